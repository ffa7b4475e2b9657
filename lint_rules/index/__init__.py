"""The project index: modules, classes with their fields and kinds, functions, and how names lead from one to another."""
