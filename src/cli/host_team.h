#pragma once
// The hosts that do one command together, as one of them sees it. Each does the whole of it, but
// one alone tells and writes what comes out.

#include <functional>
#include <memory>
#include <optional>

#include "cli/options.h"
#include "exec/transport.h"
#include "text/files.h"

namespace shard {

class HostTeam {
 public:
  /// Joins the hosts that `--backend` names. Throws `Error` `no-mpi`, and `usage` where mpirun
  /// started several processes that would not know of each other.
  HostTeam(const Options& options, Sources& sources);

  /// Nothing where this host is alone.
  Transport* transport() const { return transport_.get(); }
  int hosts() const { return transport_ ? transport_->hosts() : 1; }
  /// True on the one that tells.
  bool is_first() const { return !transport_ || transport_->self() == 0; }

  /// The same options on the first host (of several: without colours unless they are asked for),
  /// and on the others those that tell and write nothing.
  Options own(const Options& options) const;

  /// Does what every host does alike. When it fails on any, the failure of the first of them is
  /// told once, and every host gets the exit code; else nothing. Alone, a failure is thrown.
  std::optional<int> together(const std::function<void()>& work) const;

  /// Does what hosts do with each other: a failure on one ends the command on all, told once.
  /// Alone, it is thrown.
  void bound(const std::function<void()>& work) const;

  /// The first host's exit code.
  int agreed(int exit_code) const;

 private:
  Sources& sources_;
  std::unique_ptr<Transport> transport_;
};

}  // namespace shard
