// How both stand-ins make kernels: C++ through shim.h into a shared library, by the compiler of this machine.
//
// The compiler and the folder of the shim are given when this is compiled (PLUGRAD_COMPILER, PLUGRAD_HERE).
#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern char **environ;

namespace {

std::string read_file(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

int run(const std::vector<std::string> &command, const std::string &log) {
  std::vector<char *> words;
  for (auto &word : command) words.push_back(const_cast<char *>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child;
  int failed = posix_spawnp(&child, words[0], &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed) return failed;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  return status;
}

// A folder for the files of one kernel, which goes with it.
struct Workshop {
  std::string folder;

  Workshop() {
    const char *tmp = std::getenv("TMPDIR");
    folder = std::string(tmp && *tmp ? tmp : "/tmp") + "/plugrad-cuda-XXXXXX";
    if (!mkdtemp(folder.data())) folder.clear();
  }
  ~Workshop() {
    for (auto name : {"kernel.ptx", "kernel.cpp", "kernel.so", "log"}) unlink(path(name).c_str());
    rmdir(folder.c_str());
  }
  std::string path(const std::string &name) const { return folder + "/" + name; }
  void write(const std::string &name, const std::string &text) const { std::ofstream(path(name)) << text; }
  std::string log() const { return read_file(path("log")); }

  // Returns the library that kernel.cpp compiles to, empty where the compiler refuses.
  std::string compile(int arch, const std::vector<std::string> &defines) const {
    std::vector<std::string> command = {
        PLUGRAD_COMPILER, "-x", "c++", "-std=c++17", "-O1", "-w", "-shared", "-fPIC", "-fvisibility=hidden",
        "-fsanitize=alignment", "-fsanitize-undefined-trap-on-error", "-ffp-contract=off", "-fno-fast-math", "-fno-exceptions", "-fno-rtti",
        "-nostdlib",  // kernels call libc and libm at most, which the process has: saves a third of the time
        "-DPLUGRAD_ARCH=" + std::to_string(arch * 10), "-I", PLUGRAD_HERE, "-include", "shim.h",
        path("kernel.cpp"), "-o", path("kernel.so"), "-lgcc"};
    command.insert(command.end(), defines.begin(), defines.end());
    return run(command, path("log")) ? "" : read_file(path("kernel.so"));
  }
};

}  // namespace
