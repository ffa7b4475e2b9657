"""Where the value of each plan field comes from: a small abstract interpreter over function bodies.

It follows assignments, calls, closures, branches, dicts of keywords and loops over field names, and answers one
question for every plan that a function makes: which fields were taken from where, and which stayed blank. What it
cannot follow it calls unknown, and unknown never leads to a finding.
"""
