// A stand-in for NVRTC: compiles the very source it is given as C++, through shim.h, into a shared library.
//
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "compile.h"
#include "inline_asm.h"

namespace {

enum { kSuccess = 0, kInvalidInput = 3, kInvalidProgram = 4, kInvalidOption = 5, kCompilation = 6 };
const int kArchs[] = {70, 75, 80, 86, 89, 90, 100, 120};

struct Program {
  std::string source, log, image;
};
std::set<Program *> live;

Program *find(void *handle) {
  auto found = live.find(static_cast<Program *>(handle));
  return found == live.end() ? nullptr : *found;
}

bool waits(const std::string &text) {
  for (auto word : {"__syncthreads()", "__shfl_", "plugrad_mma<", "plugrad_load_matrix<"})
    if (text.find(word) != std::string::npos) return true;
  return false;
}

struct Kernel {
  std::string name, body;
  int bounds;
};

// Returns the kernels of a source, and leaves what is outside of their bodies.
std::vector<Kernel> kernels_of(const std::string &source, std::string &outside) {
  const std::string global = "__global__", bounds_word = "__launch_bounds__(";
  std::vector<Kernel> kernels;
  size_t done = 0;
  for (size_t at = source.find(global); at != std::string::npos; at = source.find(global, at)) {
    at += global.size();
    size_t open = source.find('(', at);
    int bounds = 1024;
    if (size_t word = source.find(bounds_word, at); word < open) {
      bounds = std::atoi(source.c_str() + word + bounds_word.size());
      open = source.find('(', open + 1);
    }
    if (open == std::string::npos) break;
    size_t name = open;
    while (name && (std::isalnum((unsigned char)source[name - 1]) || source[name - 1] == '_')) name--;
    size_t begin = std::min(source.find('{', open), source.size()), end = begin;
    for (int depth = 0; end < source.size(); end++) {
      depth += (source[end] == '{') - (source[end] == '}');
      if (!depth) break;
    }
    outside += source.substr(done, begin - done);
    kernels.push_back({source.substr(name, open - name), source.substr(begin, end - begin), bounds});
    at = done = end;
  }
  outside += source.substr(done);
  return kernels;
}

// Appends what the driver needs to call each kernel: its name, the size of its blocks, whether it has barriers.
std::string with_kernels(const std::string &source) {
  std::string outside;
  std::vector<Kernel> kernels = kernels_of(source, outside);
  bool has_barriers = waits(outside);
  std::ostringstream out;
  out << source << "\n";
  for (auto &kernel : kernels)
    out << "PLUGRAD_KERNEL(" << kernel.name << ", " << kernel.bounds << ", " << (has_barriers || waits(kernel.body))
        << ")\n";
  if (source.find("extern __shared__") != std::string::npos)
    out << "thread_local __align__(16) unsigned char shared_memory[227 << 10];\n";
  return out.str();
}

}  // namespace

extern "C" {

const char *plugrad_stand_in() { return "stand-in for NVRTC: kernels run on the CPU"; }

int nvrtcVersion(int *major, int *minor) {
  *major = 12;
  *minor = 9;
  return kSuccess;
}

const char *nvrtcGetErrorString(int error) {
  switch (error) {
    case kSuccess: return "NVRTC_SUCCESS";
    case kInvalidInput: return "NVRTC_ERROR_INVALID_INPUT";
    case kInvalidProgram: return "NVRTC_ERROR_INVALID_PROGRAM";
    case kInvalidOption: return "NVRTC_ERROR_INVALID_OPTION";
    default: return "NVRTC_ERROR_COMPILATION";
  }
}

int nvrtcGetNumSupportedArchs(int *count) {
  *count = (int)std::size(kArchs);
  return kSuccess;
}

int nvrtcGetSupportedArchs(int *archs) {
  std::copy(std::begin(kArchs), std::end(kArchs), archs);
  return kSuccess;
}

int nvrtcCreateProgram(void **program, const char *source, const char *, int headers, const char *const *,
                       const char *const *) {
  if (!source || headers) return kInvalidInput;
  auto *made = new Program;
  made->source = source;
  live.insert(made);
  *program = made;
  return kSuccess;
}

int nvrtcDestroyProgram(void **program) {
  Program *found = find(*program);
  if (!found) return kInvalidProgram;
  live.erase(found);
  delete found;
  *program = nullptr;
  return kSuccess;
}

int nvrtcCompileProgram(void *handle, int count, const char *const *options) {
  Program *program = find(handle);
  if (!program) return kInvalidProgram;
  int arch = 0;
  std::vector<std::string> defines;
  for (int i = 0; i < count; i++) {
    std::string option = options[i];
    if (option.rfind("-arch=sm_", 0) == 0) arch = std::atoi(option.c_str() + 9);
    if (option.rfind("-arch=compute_", 0) == 0) arch = std::atoi(option.c_str() + 14);
    if (option.rfind("-D", 0) == 0) defines.push_back(option);
  }
  if (std::find(std::begin(kArchs), std::end(kArchs), arch) == std::end(kArchs)) {
    program->log = "no architecture that this stand-in knows is among the options";
    return kInvalidOption;
  }
  Workshop workshop;
  if (workshop.folder.empty()) return kCompilation;
  std::string source;
  try {
    source = without_asm(program->source);
  } catch (const std::runtime_error &error) {
    program->log = error.what();
    return kCompilation;
  }
  workshop.write("kernel.cpp", with_kernels(source));
  program->image = workshop.compile(arch, defines);
  program->log = workshop.log();
  return program->image.empty() ? kCompilation : kSuccess;
}

static int give_size(void *handle, size_t *nbytes, std::string Program::*text, int zero) {
  Program *program = find(handle);
  if (!program) return kInvalidProgram;
  *nbytes = (program->*text).size() + zero;
  return kSuccess;
}

static int give(void *handle, char *out, std::string Program::*text, int zero) {
  Program *program = find(handle);
  if (!program) return kInvalidProgram;
  std::memcpy(out, (program->*text).c_str(), (program->*text).size() + zero);
  return kSuccess;
}

int nvrtcGetCUBINSize(void *program, size_t *nbytes) { return give_size(program, nbytes, &Program::image, 0); }
int nvrtcGetCUBIN(void *program, char *out) { return give(program, out, &Program::image, 0); }
int nvrtcGetPTXSize(void *program, size_t *nbytes) { return give_size(program, nbytes, &Program::image, 0); }
int nvrtcGetPTX(void *program, char *out) { return give(program, out, &Program::image, 0); }
int nvrtcGetProgramLogSize(void *program, size_t *nbytes) { return give_size(program, nbytes, &Program::log, 1); }
int nvrtcGetProgramLog(void *program, char *out) { return give(program, out, &Program::log, 1); }

}  // extern "C"
