#pragma once
// What a failing call tells the user, as one text.

#include <map>
#include <string>

#include "text/files.h"
#include "text/render.h"

namespace shard {

/// The rendered diagnostics of the `Error` that `call` throws; `no error` when it throws none.
template <class Call>
std::string rendered(const Sources& sources, Call call) {
  try {
    call();
  } catch (const Error& error) {
    return render(error.diagnostics(), sources);
  }
  return "no error\n";
}

}  // namespace shard
