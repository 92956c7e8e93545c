"""The command line: arguments, exit codes, and what goes to which stream; no logic. A module for each command."""
