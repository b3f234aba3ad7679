#include "dialects/rule_list.h"

#include <doctest/doctest.h>
