// The part of the stand-in for Metal that Python cannot do: memory that faults, and running kernels.
//
// - A buffer ends at a page that nobody can touch; fresh memory is poisoned, and the few bytes between its end
//   and that page are checked for writes. Released memory cannot be touched any more.
// - Memory that a command buffer uses and nobody waited for cannot be touched by the host: doing so ends the
//   process with a message, where a Mac would give old bytes or new ones.
// - The threads of a threadgroup are fibers, so that barriers are real. A fault in a kernel is returned.
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <vector>

namespace {

const size_t kPage = 4096, kAlignment = 256, kFiberStack = 128 << 10, kMostThreads = 1024;
const unsigned char kPoison = 0xa5, kCanary = 0xc3;

enum Fault { kNone = 0, kBadAddress = 1, kBadArithmetic = 2 };

struct Position {
  unsigned int x, y, z, unused;
};

// as the end of each compiled source has it, see Metal.py
struct Kernel {
  void (*invoke)(void **);
  int has_barriers;
  Position *group, *item;
  void (**barrier)();
};

struct Memory {
  char *mapped;
  size_t mapped_bytes, nbytes;
  bool is_released;
};
std::map<char *, Memory> memory;  // by the address of the mapping

struct Fiber {
  ucontext_t context;
  Position item;
  bool is_done;
};
ucontext_t scheduler;
Fiber *running_fiber = nullptr;
void **running_arguments = nullptr;
const Kernel *running_kernel = nullptr;
sigjmp_buf escape;
volatile sig_atomic_t is_running = 0, fault = kNone;

// Says what the host did to memory that is not its own, and gives up.
void explain(const char *address) {
  for (auto &[mapped, m] : memory) {
    if (address < mapped || address >= mapped + m.mapped_bytes) continue;
    const char *what = m.is_released                                  ? "that was released"
                       : address >= mapped + m.mapped_bytes - kPage ? "behind the end of a buffer"
                                                                      : "of a command buffer that nobody waited for";
    char text[160];
    int length = std::snprintf(text, sizeof text, "Metal stand-in: the host touched memory %s (%zu bytes)\n", what,
                               m.nbytes);
    if (write(2, text, length) < 0) break;
    _exit(139);
  }
  signal(SIGSEGV, SIG_DFL);
}

void on_fault(int number, siginfo_t *info, void *) {
  if (!is_running) {
    explain(static_cast<const char *>(info->si_addr));
    return;
  }
  fault = number == SIGFPE ? kBadArithmetic : kBadAddress;
  siglongjmp(escape, 1);
}

void wait_at_barrier() {
  if (running_fiber) swapcontext(&running_fiber->context, &scheduler);
}

void fiber_main() {
  running_kernel->invoke(running_arguments);
  running_fiber->is_done = true;
  swapcontext(&running_fiber->context, &scheduler);
}

void run_group_plain(const Kernel &kernel, const unsigned *size, void **arguments) {
  for (unsigned z = 0; z < size[2]; z++)
    for (unsigned y = 0; y < size[1]; y++)
      for (unsigned x = 0; x < size[0]; x++) {
        *kernel.item = {x, y, z, 0};
        kernel.invoke(arguments);
      }
}

// Runs each thread to its next barrier in turn, until all have ended.
void run_group_fibers(const Kernel &kernel, const unsigned *size, void **arguments) {
  static std::vector<Fiber> fibers(kMostThreads);
  static char *stacks = static_cast<char *>(mmap(nullptr, kMostThreads * kFiberStack, PROT_READ | PROT_WRITE,
                                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  unsigned count = size[0] * size[1] * size[2];
  running_arguments = arguments;
  running_kernel = &kernel;
  for (unsigned i = 0; i < count; i++) {
    Fiber &fiber = fibers[i];
    fiber.item = {i % size[0], i / size[0] % size[1], i / size[0] / size[1], 0};
    fiber.is_done = false;
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = stacks + i * kFiberStack;
    fiber.context.uc_stack.ss_size = kFiberStack;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, fiber_main, 0);
  }
  for (bool is_left = true; is_left;) {
    is_left = false;
    for (unsigned i = 0; i < count; i++) {
      if (fibers[i].is_done) continue;
      running_fiber = &fibers[i];
      *kernel.item = fibers[i].item;
      swapcontext(&scheduler, &fibers[i].context);
      is_left = is_left || !fibers[i].is_done;
    }
  }
  running_fiber = nullptr;
}

}  // namespace

extern "C" {

void plugrad_start() {
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  for (int number : {SIGSEGV, SIGBUS, SIGFPE}) sigaction(number, &action, nullptr);
}

// Returns the address of new memory that ends at a page nobody can touch, or null.
void *plugrad_alloc(size_t nbytes) {
  size_t inner = (nbytes + kAlignment - 1) / kAlignment * kAlignment;
  size_t mapped_bytes = (inner + kPage - 1) / kPage * kPage + kPage;
  void *mapped = mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  char *end = static_cast<char *>(mapped) + mapped_bytes - kPage;
  mprotect(end, kPage, PROT_NONE);
  char *start = end - inner;
  if (nbytes <= 1 << 20) std::memset(start, kPoison, nbytes);
  std::memset(start + nbytes, kCanary, inner - nbytes);
  memory[static_cast<char *>(mapped)] = {static_cast<char *>(mapped), mapped_bytes, nbytes, false};
  return start;
}

static Memory *memory_at(char *start) {
  auto after = memory.upper_bound(start);
  return after == memory.begin() ? nullptr : &std::prev(after)->second;
}

// Lets the host touch memory (2), only read it (1), or not (0).
void plugrad_protect(char *start, int access) {
  Memory *m = memory_at(start);
  int flags = access == 2 ? PROT_READ | PROT_WRITE : access == 1 ? PROT_READ : PROT_NONE;
  mprotect(m->mapped, m->mapped_bytes - kPage, flags);
}

// Returns whether the bytes behind a buffer's end are as they were.
int plugrad_is_whole(char *start) {
  Memory *m = memory_at(start);
  const char *end = m->mapped + m->mapped_bytes - kPage;
  for (const char *at = start + m->nbytes; at < end; at++)
    if (static_cast<unsigned char>(*at) != kCanary) return 0;
  return 1;
}

// Takes memory back. Its addresses stay taken, so that touching it is noticed.
void plugrad_release(char *start) {
  Memory *m = memory_at(start);
  mmap(m->mapped, m->mapped_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  m->is_released = true;
}

int plugrad_run(const Kernel *kernel, const unsigned *grid, const unsigned *size, void **arguments) {
  fault = kNone;
  is_running = 1;
  if (!sigsetjmp(escape, 1)) {
    *kernel->barrier = wait_at_barrier;
    for (unsigned z = 0; z < grid[2]; z++)
      for (unsigned y = 0; y < grid[1]; y++)
        for (unsigned x = 0; x < grid[0]; x++) {
          *kernel->group = {x, y, z, 0};
          (kernel->has_barriers ? run_group_fibers : run_group_plain)(*kernel, size, arguments);
        }
  }
  is_running = 0;
  running_fiber = nullptr;
  return fault;
}

}  // extern "C"
