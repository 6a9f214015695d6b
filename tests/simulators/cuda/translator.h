// The process that makes C++ of PTX, one kernel after the other: starting Python takes longer than translating.
#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <cstdio>
#include <mutex>
#include <string>

#include "compile.h"

namespace {

class Translator {
 public:
  // Writes kernel.cpp beside the kernel.ptx of a workshop, or what is wrong into its log.
  bool translate(const Workshop &workshop, int driver, int arch) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!requests_ && !start()) return false;
    std::fprintf(requests_, "%s\t%d\t%d\n", workshop.folder.c_str(), driver, arch);
    std::fflush(requests_);
    int is_done = 0;
    if (std::fscanf(answers_, "%d", &is_done) == 1) return is_done;
    // it ended, and said why: the next kernel gets another
    std::fclose(requests_);
    std::fclose(answers_);
    requests_ = answers_ = nullptr;
    return false;
  }

 private:
  // The process ends when its requests do, with this one.
  bool start() {
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC)) return false;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    const char *command[] = {PLUGRAD_PYTHON, "-I", "-S", PLUGRAD_HERE "/ptx.py", nullptr};
    pid_t child;
    int failed = posix_spawnp(&child, command[0], &actions, nullptr, const_cast<char **>(command), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    if (failed) {
      close(in[1]);
      close(out[0]);
      return false;
    }
    requests_ = fdopen(in[1], "w");
    answers_ = fdopen(out[0], "r");
    return true;
  }

  std::mutex mutex_;
  FILE *requests_ = nullptr, *answers_ = nullptr;
};

Translator translator;

}  // namespace
