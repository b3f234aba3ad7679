#include "cli/run.h"
