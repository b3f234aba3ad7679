logical_axis_rules = (('batch', 'data'), ('hidden', 'model'), ('embed', None))
