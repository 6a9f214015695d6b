// The part of the stand-in for Metal that Python cannot do: memory that faults, and running kernels.
//
// - A buffer ends at a page that nobody can touch; fresh memory is poisoned, and the few bytes between its end
//   and that page are checked for writes. Released memory cannot be touched any more.
// - Memory that a command buffer uses and nobody waited for cannot be touched by the host: doing so ends the
//   process with a message, where a Mac would give old bytes or new ones.
// - The threads of a threadgroup are fibers, so that barriers are real, and so is what the threads of a simdgroup
//   do together: all of them have to arrive. A fault in a kernel is returned.
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
const size_t kExchanged = 64;  // bytes that a thread may show the others of its simdgroup at a time
const unsigned kSimdgroup = 32;
const unsigned char kPoison = 0xa5, kCanary = 0xc3;

enum Fault { kNone = 0, kBadAddress = 1, kBadArithmetic = 2, kMisuse = 3 };

struct Position {
  unsigned int x, y, z, unused;
};

// as the end of each compiled source has it, see Metal/_compiling.py
struct Kernel {
  void (*invoke)(void **);
  int waits;  // whether its threads wait for each other
  Position *group, *item;
  void (**barrier)();
  const char *(**exchange)(const void *, unsigned, const char *, unsigned *, unsigned *);
  void (**refuse)(const char *);
};

struct Memory {
  char *mapped;
  size_t mapped_bytes, nbytes;
  bool is_released;
};
std::map<char *, Memory> memory;  // by the address of the mapping

enum State { kReady, kAtBarrier, kAtExchange, kDone };

struct Fiber {
  ucontext_t first;  // where it begins
  jmp_buf here;      // and where it goes on: no system call is needed for that
  Position item;
  State state;
  bool has_begun;
  unsigned number;
  const void *shown;  // at an exchange
  unsigned nbytes;
  const char *what;
};
jmp_buf scheduler;
std::vector<Fiber> fibers(kMostThreads);
Fiber *running_fiber = nullptr;
unsigned thread_count = 0;
char exchanged[kMostThreads][kExchanged];
char complaint[160];
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

// Ends the launch with a complaint.
void refuse(const char *what) {
  std::snprintf(complaint, sizeof complaint, "%s", what);
  fault = kMisuse;
  siglongjmp(escape, 1);
}

void wait_as(State state) {
  running_fiber->state = state;
  if (!_setjmp(running_fiber->here)) _longjmp(scheduler, 1);
}

void wait_at_barrier() { wait_as(kAtBarrier); }

unsigned simdgroup_end(unsigned begin) {
  return begin + kSimdgroup < thread_count ? begin + kSimdgroup : thread_count;
}

// Shows bytes to all threads of the simdgroup, once all have arrived; returns what they show, kExchanged bytes
// from one to the next, with the number of this thread and how many there are.
const char *exchange(const void *mine, unsigned nbytes, const char *what, unsigned *lane, unsigned *lanes) {
  Fiber &fiber = *running_fiber;
  fiber.shown = mine;
  fiber.nbytes = nbytes;
  fiber.what = what;
  wait_as(kAtExchange);
  unsigned begin = fiber.number / kSimdgroup * kSimdgroup;
  *lane = fiber.number - begin;
  *lanes = simdgroup_end(begin) - begin;
  return exchanged[begin];
}

void fiber_main() {
  running_kernel->invoke(running_arguments);
  running_fiber->state = kDone;
  _longjmp(scheduler, 1);
}

void run_group_plain(const Kernel &kernel, const unsigned *size, void **arguments) {
  for (unsigned z = 0; z < size[2]; z++)
    for (unsigned y = 0; y < size[1]; y++)
      for (unsigned x = 0; x < size[0]; x++) {
        *kernel.item = {x, y, z, 0};
        kernel.invoke(arguments);
      }
}

// Runs a thread until it waits for others or ends.
void resume(const Kernel &kernel, Fiber &fiber) {
  running_fiber = &fiber;
  *kernel.item = fiber.item;
  if (_setjmp(scheduler)) return;
  if (fiber.has_begun) _longjmp(fiber.here, 1);
  fiber.has_begun = true;
  setcontext(&fiber.first);
}

// Lets each thread of a simdgroup see what the others show. All must have arrived, at the same place.
void release_exchange(unsigned begin, unsigned end) {
  char text[160];
  for (unsigned i = begin; i < end; i++) {
    if (fibers[i].state == kAtExchange) continue;
    unsigned other = begin;
    while (fibers[other].state != kAtExchange) other++;
    std::snprintf(text, sizeof text, "only some threads of a simdgroup arrived at %s", fibers[other].what);
    refuse(text);
  }
  for (unsigned i = begin; i < end; i++) {
    if (std::strcmp(fibers[i].what, fibers[begin].what) || fibers[i].nbytes != fibers[begin].nbytes) {
      std::snprintf(text, sizeof text, "some threads of a simdgroup arrived at %s, others at %s", fibers[begin].what,
                    fibers[i].what);
      refuse(text);
    }
    std::memcpy(exchanged[i], fibers[i].shown, fibers[i].nbytes);
  }
  for (unsigned i = begin; i < end; i++) fibers[i].state = kReady;
}

// Runs the threads of a simdgroup until each waits for the threadgroup or has ended.
void run_simdgroup(const Kernel &kernel, unsigned begin, unsigned end) {
  for (bool exchanges = true; exchanges;) {
    exchanges = false;
    for (unsigned i = begin; i < end; i++) {
      if (fibers[i].state == kReady) resume(kernel, fibers[i]);
      exchanges = exchanges || fibers[i].state == kAtExchange;
    }
    if (exchanges) release_exchange(begin, end);
  }
}

// Runs each thread to its next barrier in turn, until all have ended.
void run_group_fibers(const Kernel &kernel, const unsigned *size, void **arguments) {
  static char *stacks = static_cast<char *>(mmap(nullptr, kMostThreads * kFiberStack, PROT_READ | PROT_WRITE,
                                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  thread_count = size[0] * size[1] * size[2];
  running_arguments = arguments;
  running_kernel = &kernel;
  for (unsigned i = 0; i < thread_count; i++) {
    Fiber &fiber = fibers[i];
    fiber.item = {i % size[0], i / size[0] % size[1], i / size[0] / size[1], 0};
    fiber.number = i;
    fiber.state = kReady;
    fiber.has_begun = false;
    getcontext(&fiber.first);
    fiber.first.uc_stack.ss_sp = stacks + i * kFiberStack;
    fiber.first.uc_stack.ss_size = kFiberStack;
    fiber.first.uc_link = nullptr;
    makecontext(&fiber.first, fiber_main, 0);
  }
  for (unsigned waiting = 1; waiting;) {
    waiting = 0;
    for (unsigned begin = 0; begin < thread_count; begin += kSimdgroup)
      run_simdgroup(kernel, begin, simdgroup_end(begin));
    for (unsigned i = 0; i < thread_count; i++) waiting += fibers[i].state == kAtBarrier;
    if (waiting && waiting < thread_count) refuse("only some threads of a threadgroup arrived at a barrier");
    for (unsigned i = 0; i < thread_count && waiting; i++) fibers[i].state = kReady;
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

// Returns what a launch did wrong that ended with kMisuse.
const char *plugrad_complaint() { return complaint; }

int plugrad_run(const Kernel *kernel, const unsigned *grid, const unsigned *size, void **arguments) {
  fault = kNone;
  is_running = 1;
  if (!sigsetjmp(escape, 1)) {
    *kernel->barrier = wait_at_barrier;
    *kernel->exchange = exchange;
    *kernel->refuse = refuse;
    for (unsigned z = 0; z < grid[2]; z++)
      for (unsigned y = 0; y < grid[1]; y++)
        for (unsigned x = 0; x < grid[0]; x++) {
          *kernel->group = {x, y, z, 0};
          (kernel->waits ? run_group_fibers : run_group_plain)(*kernel, size, arguments);
        }
  }
  is_running = 0;
  running_fiber = nullptr;
  return fault;
}

}  // extern "C"
