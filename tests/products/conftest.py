from engines import order_changes_at_once

__all__ = ["order_changes_at_once"]
