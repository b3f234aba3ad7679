#include "check/findings.h"
