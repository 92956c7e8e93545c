"""Pictures of graphs, without a program from outside: layout and SVG."""
