"""The project index: modules, classes with their fields and kinds, functions, and what names lead to."""
