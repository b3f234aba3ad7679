#include "cli/terminal.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <optional>
#include <string>

#include "cli/layout.h"

using namespace shard;

namespace {

/// A terminal of 120 columns that nobody looks at.
class Terminal {
 public:
  Terminal() : master_(posix_openpt(O_RDWR | O_NOCTTY)) {
    REQUIRE(master_ >= 0);
    REQUIRE(grantpt(master_) == 0);
    REQUIRE(unlockpt(master_) == 0);
    fd_ = open(ptsname(master_), O_RDWR | O_NOCTTY);
    REQUIRE(fd_ >= 0);
    winsize size{};
    size.ws_col = 120;
    REQUIRE(ioctl(fd_, TIOCSWINSZ, &size) == 0);
  }
  ~Terminal() {
    close(fd_);
    close(master_);
  }
  int fd() const { return fd_; }

 private:
  int master_ = -1;
  int fd_ = -1;
};

/// Sets a variable of the environment (nullptr: removes it) and puts it back at the end.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* const old = getenv(name)) old_ = old;
    set(value);
  }
  ~Variable() { set(old_ ? old_->c_str() : nullptr); }

 private:
  void set(const char* value) {
    if (value != nullptr) {
      setenv(name_, value, 1);
    } else {
      unsetenv(name_);
    }
  }

  const char* name_;
  std::optional<std::string> old_;
};

}  // namespace

TEST_CASE("a terminal has colour unless NO_COLOR or TERM say otherwise") {
  const Terminal terminal;
  const Variable term("TERM", "xterm");
  const Variable no_color("NO_COLOR", nullptr);
  CHECK(use_color(ColorChoice::automatic, terminal.fd()));
  CHECK_FALSE(use_color(ColorChoice::never, terminal.fd()));
  SUBCASE("an empty NO_COLOR is none") {
    const Variable empty("NO_COLOR", "");
    CHECK(use_color(ColorChoice::automatic, terminal.fd()));
  }
  SUBCASE("NO_COLOR") {
    const Variable set("NO_COLOR", "1");
    CHECK_FALSE(use_color(ColorChoice::automatic, terminal.fd()));
    CHECK(use_color(ColorChoice::always, terminal.fd()));
  }
  SUBCASE("TERM") {
    const Variable dumb("TERM", "dumb");
    CHECK_FALSE(use_color(ColorChoice::automatic, terminal.fd()));
  }
}

TEST_CASE("a file has no colour unless it is asked for") {
  const int fd = open("/dev/null", O_WRONLY);
  REQUIRE(fd >= 0);
  CHECK_FALSE(use_color(ColorChoice::automatic, fd));
  CHECK(use_color(ColorChoice::always, fd));
  CHECK_FALSE(terminal_width(fd));
  close(fd);
}

TEST_CASE("the width is the terminal's") {
  const Terminal terminal;
  REQUIRE(terminal_width(terminal.fd()));
  CHECK(*terminal_width(terminal.fd()) == 120);
}

TEST_CASE("an answer for a file has neither a limit nor colour") {
  Options options;
  options.output = "plan.txt";
  CHECK(layout_of(options).width == 0);
  CHECK_FALSE(layout_of(options).color);
  options.width = 90;
  options.color = ColorChoice::always;
  CHECK(layout_of(options).width == 90);
  CHECK(layout_of(options).color);
}

TEST_CASE("pictures are 80 wide as JAX draws them unless a width is given") {
  Options options;
  options.jax_style = true;
  CHECK(picture_width(options) == 80);
  options.width = 40;
  CHECK(picture_width(options) == 40);
  options.width = 0;
  CHECK(picture_width(options) > 10'000);
}
