rules = [('bаtch', 'data')]
