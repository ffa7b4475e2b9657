"""What functions do with plans that they are given: reads of fields, and where those values go.

The flow analysis follows plans that are made. Rules about plans that are *used* need less: the class of a variable, and
the field that an expression reads. That is found here without running anything, in the functions that speak of a plan.
"""
