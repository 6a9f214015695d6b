// A stand-in for libcuda: runs kernels that the stand-in for NVRTC compiled, on the CPU.
//
// PTX is assembled by ptx.py, which makes C++ of it, and the compiler of this machine.
//
// It is stricter than hardware, so that mistakes of the host side show:
// - Streams do nothing until somebody waits for them, so a missing wait reads what was there before.
// - Every handle is looked up; a block ends at a page that cannot be touched, fresh memory is poisoned, freed
//   memory is gone, and the few bytes between a block's end and that page are checked for writes.
// - Blocks run in an order that differs from launch to launch, and every access has to be aligned.
// - A fault in a kernel is a sticky error of its context. What is left at the end of the process is reported.
// - Memory of a pool comes to be and ends in the order of its stream, and launches look whether it is there.
//
// Settings: PLUGRAD_SIM_DEVICES, PLUGRAD_SIM_ARCH (90), PLUGRAD_SIM_MEMORY (bytes), PLUGRAD_SIM_DRIVER (12090),
// PLUGRAD_SIM_POOLS (1), PLUGRAD_SIM_PEERS (1), PLUGRAD_SIM_UNITS (16),
// PLUGRAD_SIM_SEED (1) of the order of blocks.
#include <dlfcn.h>
#include <elf.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "compile.h"
#include "translator.h"

namespace {

enum Status {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kInvalidPtx = 218,
  kPeerUnsupported = 217,
  kInvalidHandle = 400,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kOutOfResources = 701,
  kPeerEnabled = 704,
  kMisaligned = 716,
  kLaunchFailed = 719,
};

const std::map<int, std::pair<const char *, const char *>> kTexts = {
    {0, {"CUDA_SUCCESS", "no error"}},
    {1, {"CUDA_ERROR_INVALID_VALUE", "invalid argument"}},
    {2, {"CUDA_ERROR_OUT_OF_MEMORY", "out of memory"}},
    {3, {"CUDA_ERROR_NOT_INITIALIZED", "initialization error"}},
    {100, {"CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"}},
    {101, {"CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"}},
    {200, {"CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"}},
    {201, {"CUDA_ERROR_INVALID_CONTEXT", "invalid device context"}},
    {218, {"CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"}},
    {400, {"CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"}},
    {500, {"CUDA_ERROR_NOT_FOUND", "named symbol not found"}},
    {600, {"CUDA_ERROR_NOT_READY", "device not ready"}},
    {700, {"CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"}},
    {701, {"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"}},
    {217, {"CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "peer access is not supported between these two devices"}},
    {704, {"CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "peer access is already enabled"}},
    {716, {"CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"}},
    {719, {"CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"}},
};

const size_t kPage = 4096, kAlignment = 256, kFiberStack = 128 << 10;
const unsigned char kPoison = 0xa5, kCanary = 0xc3;
const int kRegisters = 64 << 10;
const int kSharedDefault = 48 << 10, kSharedMost = 227 << 10;
const size_t kLongestQueue = 512;

struct Dim {
  unsigned int x, y, z;
};

// as in shim.h
struct Kernel {
  int parameters;
  const int *sizes;
  const char *is_pointer;
  void (*invoke)(void **);
  int bounds;
  int barriers;
  Dim *thread, *block, *block_dim, *grid_dim;
  void (**barrier)();
  const void *(**meet)(const char *, unsigned int, int, const void *, int);
};

struct Context;
// Memory that the device has given it, and how much of that is in use; `ending` is freed later in a stream.
struct Pool {
  Context *context;
  unsigned long long threshold = 0;
  size_t reserved = 0, used = 0, ending = 0;
  std::set<int> readers = {};
};
// as in the driver's header (CUmemAccessDesc)
struct PoolAccess {
  int location_kind, location, flags;
};
struct Block {
  Context *context;
  char *mapped;
  size_t mapped_bytes, nbytes;
  Pool *pool = nullptr;
  bool is_there = true, is_freed = false;
};
// as in the driver's header (CUmemPoolProps)
struct PoolProperties {
  int kind, handle_types, location_kind, location;
  void *security;
  unsigned char reserved[64];
};
struct Module {
  Context *context;
  void *library;
};
struct Function {
  Module *module;
  const Kernel *kernel;
  std::string name;
  int shared_most = kSharedDefault;
};
// PTX on its way to an image, and where the caller wants to read why not.
struct Link {
  std::string image;
  char *log = nullptr;
  size_t log_nbytes = 0;
};
struct Event;
struct Work {
  std::function<int()> run;
  Event *event = nullptr;
};
struct Stream {
  Context *context;
  std::deque<Work> queue;
};
struct Event {
  Context *context;
  Stream *pending = nullptr;
  int recorded = 0, waiting = 0;
  double seconds = 0;
};
// One launch, with a copy of its arguments as the driver makes one.
struct Launch {
  const Kernel *kernel = nullptr;
  Module *module = nullptr;
  Dim grid, size;
  std::string bytes;
  std::vector<size_t> offsets;
};
// as in the driver's header (CUDA_KERNEL_NODE_PARAMS_v2)
struct KernelNode {
  void *function;
  unsigned int grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_nbytes;
  void **parameters;
  void **extra;
  void *kernel;
  void *context;
};
struct Node {
  Launch launch;
  std::vector<Node *> after;
};
struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;
};
// What was instantiated of a graph: launches in an order that keeps to the edges.
struct ReadyGraph {
  Context *context;
  const Graph *graph;
  std::vector<std::pair<Node *, Launch>> launches;
};
struct Context {
  int device;
  int retained = 0;
  int sticky = 0;
  size_t used = 0;
  std::set<Context *> peers = {};
};

std::recursive_mutex lock_;
using Guard = std::lock_guard<std::recursive_mutex>;
bool is_initialized = false;
std::map<int, Context> contexts;
std::map<unsigned long long, Block> blocks;
std::map<char *, size_t> pinned;
std::set<Stream *> streams;
std::set<Event *> events;
std::set<Module *> modules;
std::set<Link *> links;
std::map<Function *, std::unique_ptr<Function>> functions;
std::set<Pool *> pools;
std::set<Graph *> graphs;
std::set<ReadyGraph *> ready_graphs;
int violations = 0;
thread_local Context *current = nullptr;
thread_local std::vector<Context *> below;  // contexts that were current when others were pushed

long long setting(const char *name, long long otherwise) {
  const char *text = std::getenv(name);
  return text && *text ? std::atoll(text) : otherwise;
}

int device_count() { return (int)setting("PLUGRAD_SIM_DEVICES", 1); }

void complain(const char *what, const std::string &about) {
  violations++;
  std::fprintf(stderr, "CUDA stand-in: %s %s\n", what, about.c_str());
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <typename T> bool is_live(const std::set<T *> &all, void *handle) {
  return all.count(static_cast<T *>(handle)) > 0;
}

// Returns the block that holds [address, address + nbytes), or null.
const Block *block_at(unsigned long long address, size_t nbytes) {
  auto after = blocks.upper_bound(address);
  if (after == blocks.begin()) return nullptr;
  auto found = std::prev(after);
  return address + nbytes <= found->first + found->second.nbytes ? &found->second : nullptr;
}

// Says whether a copy may be asked for of memory that nobody has freed yet.
bool is_usable(unsigned long long address, size_t nbytes) {
  const Block *block = block_at(address, nbytes);
  if (block && block->is_freed) complain("memory was used after it was freed, of bytes:", std::to_string(nbytes));
  return block && !block->is_freed;
}

// Says whether memory is there when its turn comes in a stream.
bool is_there(unsigned long long address, size_t nbytes) {
  const Block *block = block_at(address, nbytes);
  return block && block->is_there;
}

bool is_pinned(const void *memory, size_t nbytes) {
  char *address = const_cast<char *>(static_cast<const char *>(memory));
  auto after = pinned.upper_bound(address);
  if (after == pinned.begin()) return false;
  auto found = std::prev(after);
  return address + nbytes <= found->first + found->second;
}

void check_canary(unsigned long long address, const Block &block) {
  const unsigned char *end = block.mapped ? (unsigned char *)block.mapped + block.mapped_bytes - kPage : nullptr;
  for (const unsigned char *at = (unsigned char *)address + block.nbytes; at < end; at++) {
    if (*at == kCanary) continue;
    complain("a kernel wrote behind a block of", std::to_string(block.nbytes) + " bytes");
    return;
  }
}

// --- running kernels ---

// What each thread of a warp gave the others, as in warp.h.
const int kWarp = 32, kSlot = 32;
struct Deposits {
  unsigned char bytes[kWarp][kSlot];
};
// A thread of a block: it runs until it ends, or waits for its block or for threads of its warp.
struct Fiber {
  enum State { kReady, kAtBarrier, kMeeting, kDone };
  ucontext_t context;
  Dim thread;
  State state;
  const char *what;      // that its warp does together, and which of its threads
  unsigned int members;
  bool is_whole;         // whether all of them must be there
  unsigned char own[kSlot];
  std::shared_ptr<Deposits> others;
};
ucontext_t scheduler;
Fiber *running_fiber = nullptr;
void **running_arguments = nullptr;
const Kernel *running_kernel = nullptr;
sigjmp_buf escape;
volatile sig_atomic_t fault_code = 0;

void on_fault(int number, siginfo_t *info, void *) {
  // a misaligned vector has no address on x86: the kernel of the host says so by SI_KERNEL. Kernels are compiled
  // to stop at any other misaligned access, by an instruction that there is not.
  bool is_misaligned = number == SIGILL || (number != SIGFPE && info->si_code == SI_KERNEL);
  fault_code = number == SIGFPE ? kLaunchFailed : is_misaligned ? kMisaligned : kIllegalAddress;
  siglongjmp(escape, 1);
}

void wait(Fiber::State state) {
  Fiber *self = running_fiber;
  self->state = state;
  swapcontext(&self->context, &scheduler);
}

void wait_at_barrier() {
  if (running_fiber) wait(Fiber::kAtBarrier);
}

const void *meet(const char *what, unsigned int members, int is_whole, const void *mine, int nbytes) {
  Fiber *self = running_fiber;
  self->what = what;
  self->members = members;
  self->is_whole = is_whole;
  std::memset(self->own, kPoison, kSlot);
  std::memcpy(self->own, mine, nbytes);
  wait(Fiber::kMeeting);
  return self->others->bytes;
}

void fiber_main() {
  running_kernel->invoke(running_arguments);
  wait(Fiber::kDone);
}

void run_block_plain(const Kernel &kernel, Dim size, void **arguments) {
  for (unsigned z = 0; z < size.z; z++)
    for (unsigned y = 0; y < size.y; y++)
      for (unsigned x = 0; x < size.x; x++) {
        *kernel.thread = {x, y, z};
        kernel.invoke(arguments);
      }
}

// Says whether all threads that a thread of a warp waits for have come to the same instruction.
bool is_met(const Fiber *warp, int threads, int lane) {
  const Fiber &self = warp[lane];
  if (!(self.members >> lane & 1)) return false;
  for (int i = 0; i < kWarp; i++) {
    if (!(self.members >> i & 1)) continue;
    bool is_gone = i >= threads || warp[i].state == Fiber::kDone;
    if (is_gone && !self.is_whole) continue;
    if (is_gone || warp[i].state != Fiber::kMeeting || warp[i].members != self.members) return false;
    if (std::strcmp(warp[i].what, self.what)) return false;
  }
  return true;
}

// Lets threads of a warp go on that have met, with what each of them gave; says whether there are any.
bool let_meet(Fiber *warp, int threads) {
  bool is_any = false;
  for (int lane = 0; lane < threads; lane++) {
    if (warp[lane].state != Fiber::kMeeting || !is_met(warp, threads, lane)) continue;
    auto together = std::make_shared<Deposits>();
    std::memset(together->bytes, kPoison, sizeof(together->bytes));
    unsigned int members = warp[lane].members;
    for (int i = 0; i < threads; i++) {
      if (!(members >> i & 1) || warp[i].state != Fiber::kMeeting) continue;
      std::memcpy(together->bytes[i], warp[i].own, kSlot);
      warp[i].others = together;
      warp[i].state = Fiber::kReady;
    }
    is_any = true;
  }
  return is_any;
}

// Reports threads that wait for others of their warp, which will not come.
void complain_of_waiting(const Fiber *fibers, int count) {
  for (int i = 0; i < count; i++) {
    if (fibers[i].state != Fiber::kMeeting) continue;
    if (!(fibers[i].members >> i % kWarp & 1)) return complain("a thread does not name itself among those of", fibers[i].what);
    int first = i / kWarp * kWarp, come = 0;
    for (int k = first; k < std::min(count, first + kWarp); k++)
      come += fibers[k].state == Fiber::kMeeting && !std::strcmp(fibers[k].what, fibers[i].what);
    complain("only some threads of a warp came to", std::string(fibers[i].what) + ": " + std::to_string(come) + " of " +
                                                        std::to_string(__builtin_popcount(fibers[i].members)));
    return;
  }
}

// Runs each thread until it waits or ends, in turn, until all have ended; returns a fault.
int run_block_fibers(const Kernel &kernel, Dim size, void **arguments) {
  static std::vector<Fiber> fibers(1024);
  static char *stacks = static_cast<char *>(
      mmap(nullptr, 1024 * kFiberStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  int count = (int)(size.x * size.y * size.z);
  running_arguments = arguments;
  running_kernel = &kernel;
  for (int i = 0; i < count; i++) {
    Fiber &fiber = fibers[i];
    fiber.thread = {i % size.x, i / size.x % size.y, i / size.x / size.y};
    fiber.state = Fiber::kReady;
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = stacks + i * kFiberStack;
    fiber.context.uc_stack.ss_size = kFiberStack;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, fiber_main, 0);
  }
  for (;;) {
    for (int i = 0; i < count; i++) {
      if (fibers[i].state != Fiber::kReady) continue;
      running_fiber = &fibers[i];
      *kernel.thread = fibers[i].thread;
      swapcontext(&scheduler, &fibers[i].context);
    }
    running_fiber = nullptr;
    bool is_any = false;
    int waiting = 0, meeting = 0;
    for (int first = 0; first < count; first += kWarp)
      is_any = let_meet(&fibers[first], std::min(kWarp, count - first)) || is_any;
    if (is_any) continue;
    for (int i = 0; i < count; i++) {
      waiting += fibers[i].state == Fiber::kAtBarrier;
      meeting += fibers[i].state == Fiber::kMeeting;
    }
    if (meeting) {
      complain_of_waiting(fibers.data(), count);
      return kLaunchFailed;
    }
    if (!waiting) return 0;
    for (int i = 0; i < count; i++)
      if (fibers[i].state == Fiber::kAtBarrier) fibers[i].state = Fiber::kReady;
  }
}

// An order of all blocks of a launch that no kernel may depend on, another one for each launch.
struct Shuffle {
  unsigned long long count, step, first;

  explicit Shuffle(unsigned long long blocks) : count(blocks) {
    static unsigned long long state = (unsigned long long)setting("PLUGRAD_SIM_SEED", 1);
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    first = (state >> 33) % count;
    step = (state >> 17) % count | 1;
    while (std::gcd(step, count) != 1) step++;
  }
  unsigned long long at(unsigned long long i) const { return (unsigned long long)(((unsigned __int128)i * step + first) % count); }
};

int run_kernel(const Kernel &kernel, Dim grid, Dim size, void **arguments) {
  const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
  const int count = (int)std::size(signals);
  struct sigaction action = {}, before[count];
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  for (int i = 0; i < count; i++) sigaction(signals[i], &action, &before[i]);
  fault_code = 0;
  if (!sigsetjmp(escape, 1)) {
    *kernel.barrier = wait_at_barrier;
    *kernel.meet = meet;
    *kernel.block_dim = size;
    *kernel.grid_dim = grid;
    Shuffle order((unsigned long long)grid.x * grid.y * grid.z);
    for (unsigned long long i = 0; i < order.count && !fault_code; i++) {
      unsigned long long block = order.at(i);
      *kernel.block = {(unsigned)(block % grid.x), (unsigned)(block / grid.x % grid.y), (unsigned)(block / grid.x / grid.y)};
      if (kernel.barriers) fault_code = run_block_fibers(kernel, size, arguments);
      else run_block_plain(kernel, size, arguments);
    }
  }
  running_fiber = nullptr;
  for (int i = 0; i < count; i++) sigaction(signals[i], &before[i], nullptr);
  return fault_code;
}

// --- streams ---

void perform(Stream &stream, Work work) {
  Context &context = *stream.context;
  if (!context.sticky) context.sticky = work.run();
  if (!work.event) return;
  work.event->seconds = now();
  work.event->waiting--;
}

bool perform_next(Stream &stream) {
  if (stream.queue.empty()) return false;
  Work work = std::move(stream.queue.front());
  stream.queue.pop_front();
  perform(stream, std::move(work));
  return true;
}

// Gives memory that a pool does not use back to its device, but for `keep` bytes.
void release(Pool &pool, size_t keep) {
  size_t needed = std::max(keep, pool.used + pool.ending);
  if (pool.reserved <= needed) return;
  pool.context->used -= pool.reserved - needed;
  pool.reserved = needed;
}

int drain(Stream &stream) {
  while (perform_next(stream)) {}
  for (Pool *pool : pools)
    if (pool->context == stream.context) release(*pool, pool->threshold);
  return stream.context->sticky;
}

int drain_all(Context *context) {
  for (Stream *stream : streams)
    if (stream->context == context) drain(*stream);
  return context->sticky;
}

void submit(Stream &stream, std::function<int()> run, Event *event = nullptr) {
  stream.queue.push_back({std::move(run), event});
  if (stream.queue.size() > kLongestQueue) drain(stream);
}

// What every call that needs a context begins with.
int enter() {
  if (!is_initialized) return kNotInitialized;
  if (!current || !current->retained) return kInvalidContext;
  return current->sticky;
}

#define ENTER()                         \
  Guard guard(lock_);                   \
  if (int status = enter()) return status

size_t image_size(const void *image) {
  auto *header = static_cast<const Elf64_Ehdr *>(image);
  if (std::memcmp(header->e_ident, ELFMAG, SELFMAG)) return 0;
  return header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
}

// Checks what a launch asks for, and copies its arguments.
int describe(const KernelNode &what, Launch &launch) {
  auto found = functions.find(static_cast<Function *>(what.function));
  if (found == functions.end()) return kInvalidHandle;
  const Function &function = *found->second;
  if (function.module->context != current || what.extra || what.kernel || what.context) return kInvalidValue;
  unsigned long long threads = (unsigned long long)what.block_x * what.block_y * what.block_z;
  if (!what.grid_x || !what.grid_y || !what.grid_z || !threads) return kInvalidValue;
  if (what.grid_x > 0x7fffffffu || what.grid_y > 65535 || what.grid_z > 65535) return kInvalidValue;
  if (threads > 1024 || what.block_z > 64 || (int)what.shared_nbytes > function.shared_most) return kInvalidValue;
  if ((int)threads > function.kernel->bounds) return kOutOfResources;
  launch.kernel = function.kernel;
  launch.module = function.module;
  launch.grid = {what.grid_x, what.grid_y, what.grid_z};
  launch.size = {what.block_x, what.block_y, what.block_z};
  for (int i = 0; i < launch.kernel->parameters; i++) {
    launch.bytes.resize((launch.bytes.size() + 7) / 8 * 8);
    launch.offsets.push_back(launch.bytes.size());
    launch.bytes.append(static_cast<const char *>(what.parameters[i]), launch.kernel->sizes[i]);
  }
  return kSuccess;
}

void submit_launch(Stream &stream, Launch launch) {
  Context *context = current;
  submit(stream, [=]() mutable {
    std::vector<void *> arguments;
    for (int i = 0; i < launch.kernel->parameters; i++) {
      void *argument = launch.bytes.data() + launch.offsets[i];
      arguments.push_back(argument);
      if (!launch.kernel->is_pointer[i]) continue;
      const Block *block = block_at(*static_cast<unsigned long long *>(argument), 1);
      if (!block || !block->is_there || block->context != context) return (int)kIllegalAddress;
    }
    return run_kernel(*launch.kernel, launch.grid, launch.size, arguments.data());
  });
}

Node *node_of(const Graph &graph, const void *handle) {
  for (auto &node : graph.nodes)
    if (node.get() == handle) return node.get();
  return nullptr;
}

// Maps memory that ends at a page which cannot be touched.
bool map_block(size_t nbytes, Pool *pool, unsigned long long *address) {
  size_t inner = (nbytes + kAlignment - 1) / kAlignment * kAlignment;
  size_t mapped_bytes = (inner + kPage - 1) / kPage * kPage + kPage;
  void *mapped = mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return false;
  char *end = static_cast<char *>(mapped) + mapped_bytes - kPage;
  mprotect(end, kPage, PROT_NONE);
  char *start = end - inner;
  if (nbytes <= 1 << 20) std::memset(start, kPoison, nbytes);
  std::memset(start + nbytes, kCanary, inner - nbytes);
  *address = (unsigned long long)start;
  blocks[*address] = {current, static_cast<char *>(mapped), mapped_bytes, nbytes, pool, !pool, false};
  return true;
}

void unmap_block(unsigned long long address) {
  const Block &block = blocks[address];
  check_canary(address, block);
  munmap(block.mapped, block.mapped_bytes);
  blocks.erase(address);
}

Context *context_of(const void *handle) {
  for (auto &[device, context] : contexts)
    if (&context == handle) return &context;
  return nullptr;
}

size_t memory_left(const Context &context) {
  return (size_t)setting("PLUGRAD_SIM_MEMORY", 4ll << 30) - context.used;
}

struct AtExit {
  ~AtExit() {
    for (auto &[address, block] : blocks) check_canary(address, block);
    if (!blocks.empty()) complain("blocks were never freed:", std::to_string(blocks.size()));
    if (!pinned.empty()) complain("page-locked memory was never freed:", std::to_string(pinned.size()));
    if (!streams.empty()) complain("streams were never destroyed:", std::to_string(streams.size()));
    if (!events.empty()) complain("events were never destroyed:", std::to_string(events.size()));
    if (!pools.empty()) complain("pools were never destroyed:", std::to_string(pools.size()));
    if (!links.empty()) complain("links were never destroyed:", std::to_string(links.size()));
    if (!graphs.empty()) complain("graphs were never destroyed:", std::to_string(graphs.size()));
    if (!ready_graphs.empty()) complain("instantiated graphs were never destroyed:", std::to_string(ready_graphs.size()));
    if (!modules.empty()) complain("modules were never unloaded:", std::to_string(modules.size()));
    for (auto &[device, context] : contexts)
      if (context.retained) complain("a primary context was never released, of device", std::to_string(device));
  }
} at_exit;

}  // namespace

extern "C" {

const char *plugrad_stand_in() { return "stand-in for libcuda: kernels run on the CPU"; }
int plugrad_violations() { return violations; }

int cuInit(unsigned int) {
  Guard guard(lock_);
  if (!device_count()) return kNoDevice;
  is_initialized = true;
  return kSuccess;
}

int cuDriverGetVersion(int *version) {
  *version = (int)setting("PLUGRAD_SIM_DRIVER", 12090);
  return kSuccess;
}

int cuGetErrorName(int error, const char **name) {
  auto found = kTexts.find(error);
  *name = found == kTexts.end() ? nullptr : found->second.first;
  return *name ? kSuccess : kInvalidValue;
}

int cuGetErrorString(int error, const char **text) {
  auto found = kTexts.find(error);
  *text = found == kTexts.end() ? nullptr : found->second.second;
  return *text ? kSuccess : kInvalidValue;
}

int cuDeviceGetCount(int *count) {
  if (!is_initialized) return kNotInitialized;
  *count = device_count();
  return kSuccess;
}

int cuDeviceGet(int *device, int ordinal) {
  if (!is_initialized) return kNotInitialized;
  *device = ordinal;
  return ordinal >= 0 && ordinal < device_count() ? kSuccess : kInvalidDevice;
}

int cuDeviceGetName(char *name, int length, int device) {
  if (device < 0 || device >= device_count()) return kInvalidDevice;
  std::snprintf(name, length, "simulated GPU %d", device);
  return kSuccess;
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
  if (device < 0 || device >= device_count()) return kInvalidDevice;
  int arch = (int)setting("PLUGRAD_SIM_ARCH", 90);
  switch (attribute) {
    case 13: *value = 1500000; break;
    case 16: *value = (int)setting("PLUGRAD_SIM_UNITS", 16); break;
    case 36: *value = 1000000; break;
    case 37: *value = 1024; break;
    case 81: *value = kSharedMost + 1024; break;
    case 82: *value = kRegisters; break;
    case 75: *value = arch / 10; break;
    case 76: *value = arch % 10; break;
    case 97: *value = kSharedMost; break;
    case 115: *value = setting("PLUGRAD_SIM_POOLS", 1) != 0; break;
    default: return kInvalidValue;
  }
  return kSuccess;
}

int cuDeviceTotalMem_v2(size_t *nbytes, int device) {
  *nbytes = (size_t)setting("PLUGRAD_SIM_MEMORY", 4ll << 30);
  return device >= 0 && device < device_count() ? kSuccess : kInvalidDevice;
}

int cuDevicePrimaryCtxRetain(void **context, int device) {
  Guard guard(lock_);
  if (!is_initialized) return kNotInitialized;
  if (device < 0 || device >= device_count()) return kInvalidDevice;
  Context &found = contexts[device];
  found.device = device;
  found.retained++;
  *context = &found;
  return kSuccess;
}

int cuDevicePrimaryCtxRelease_v2(int device) {
  Guard guard(lock_);
  auto found = contexts.find(device);
  if (found == contexts.end() || !found->second.retained) return kInvalidContext;
  found->second.retained--;
  return kSuccess;
}

int cuCtxSetCurrent(void *context) {
  Guard guard(lock_);
  for (auto &[device, known] : contexts)
    if (&known == context) {
      current = &known;
      return kSuccess;
    }
  current = nullptr;
  return context ? kInvalidContext : kSuccess;
}

int cuCtxPushCurrent_v2(void *context) {
  Guard guard(lock_);
  Context *found = context_of(context);
  if (!found) return kInvalidContext;
  below.push_back(current);
  current = found;
  return kSuccess;
}

int cuCtxPopCurrent_v2(void **context) {
  Guard guard(lock_);
  if (below.empty()) return kInvalidContext;
  *context = current;
  current = below.back();
  below.pop_back();
  return kSuccess;
}

// --- memory ---

int cuMemAlloc_v2(unsigned long long *address, size_t nbytes) {
  ENTER();
  if (!nbytes) return kInvalidValue;
  if (nbytes > memory_left(*current) || !map_block(nbytes, nullptr, address)) return kOutOfMemory;
  current->used += nbytes;
  return kSuccess;
}

int cuMemFree_v2(unsigned long long address) {
  ENTER();
  auto found = blocks.find(address);
  if (found == blocks.end() || found->second.is_freed) {
    complain("a block was freed that is not allocated:", std::to_string(address));
    return kInvalidValue;
  }
  int status = drain_all(found->second.context);
  if (Pool *pool = found->second.pool) pool->used -= found->second.nbytes;
  else found->second.context->used -= found->second.nbytes;
  unmap_block(address);
  return status;
}

int cuMemPoolCreate(void **pool, const PoolProperties *properties) {
  ENTER();
  if (properties->kind != 1 || properties->handle_types || properties->location_kind != 1) return kInvalidValue;
  if (properties->location != current->device || !setting("PLUGRAD_SIM_POOLS", 1)) return kInvalidValue;
  auto *made = new Pool{current};
  pools.insert(made);
  *pool = made;
  return kSuccess;
}

int cuMemPoolDestroy(void *pool) {
  ENTER();
  if (!is_live(pools, pool)) return kInvalidHandle;
  auto *found = static_cast<Pool *>(pool);
  if (found->used + found->ending) complain("a pool was destroyed while its memory was in use", "");
  release(*found, 0);
  pools.erase(found);
  delete found;
  return kSuccess;
}

int cuMemPoolSetAttribute(void *pool, int attribute, void *value) {
  ENTER();
  if (!is_live(pools, pool)) return kInvalidHandle;
  if (attribute != 4) return kInvalidValue;
  static_cast<Pool *>(pool)->threshold = *static_cast<unsigned long long *>(value);
  return kSuccess;
}

int cuMemPoolTrimTo(void *pool, size_t nbytes) {
  ENTER();
  if (!is_live(pools, pool)) return kInvalidHandle;
  release(*static_cast<Pool *>(pool), nbytes);
  return kSuccess;
}

int cuMemAllocFromPoolAsync(unsigned long long *address, size_t nbytes, void *pool, void *stream) {
  ENTER();
  if (!is_live(pools, pool) || !is_live(streams, stream)) return kInvalidHandle;
  if (!nbytes) return kInvalidValue;
  auto *found = static_cast<Pool *>(pool);
  size_t needed = found->used + nbytes;
  size_t more = needed > found->reserved ? needed - found->reserved : 0;
  if (more > memory_left(*found->context) || !map_block(nbytes, found, address)) return kOutOfMemory;
  found->reserved += more;
  found->context->used += more;
  found->used = needed;
  submit(*static_cast<Stream *>(stream), [at = *address] {
    blocks[at].is_there = true;
    return 0;
  });
  return kSuccess;
}

int cuMemFreeAsync(unsigned long long address, void *stream) {
  ENTER();
  if (!is_live(streams, stream)) return kInvalidHandle;
  auto found = blocks.find(address);
  if (found == blocks.end() || found->second.is_freed || !found->second.pool) {
    complain("a block was freed that no pool has in use:", std::to_string(address));
    return kInvalidValue;
  }
  Block &block = found->second;
  block.is_freed = true;
  block.pool->used -= block.nbytes;
  block.pool->ending += block.nbytes;
  submit(*static_cast<Stream *>(stream), [address, pool = block.pool, nbytes = block.nbytes] {
    pool->ending -= nbytes;
    unmap_block(address);
    return 0;
  });
  return kSuccess;
}

int cuMemPoolSetAccess(void *pool, const PoolAccess *access, size_t count) {
  ENTER();
  if (!is_live(pools, pool)) return kInvalidHandle;
  for (size_t i = 0; i < count; i++) {
    if (access[i].location_kind != 1 || access[i].flags != 3) return kInvalidValue;
    if (access[i].location < 0 || access[i].location >= device_count()) return kInvalidDevice;
    if (!setting("PLUGRAD_SIM_PEERS", 1)) return kPeerUnsupported;
    static_cast<Pool *>(pool)->readers.insert(access[i].location);
  }
  return kSuccess;
}

int cuDeviceCanAccessPeer(int *can, int device, int peer) {
  if (std::min(device, peer) < 0 || std::max(device, peer) >= device_count()) return kInvalidDevice;
  *can = device != peer && setting("PLUGRAD_SIM_PEERS", 1);
  return kSuccess;
}

int cuCtxEnablePeerAccess(void *peer, unsigned int flags) {
  ENTER();
  Context *found = context_of(peer);
  if (!found || found == current) return kInvalidContext;
  if (flags) return kInvalidValue;
  if (!setting("PLUGRAD_SIM_PEERS", 1)) return kPeerUnsupported;
  return current->peers.insert(found).second ? kSuccess : kPeerEnabled;
}

// Stricter than hardware, which copies through the host where one device cannot read the other.
int cuMemcpyPeerAsync(unsigned long long to, void *to_context, unsigned long long from, void *from_context,
                      size_t nbytes, void *stream) {
  ENTER();
  if (!is_live(streams, stream)) return kInvalidHandle;
  if (!is_usable(to, nbytes) || !is_usable(from, nbytes)) return kInvalidValue;
  const Block *source = block_at(from, nbytes), *dest = block_at(to, nbytes);
  Context *here = static_cast<Stream *>(stream)->context, *there = source->context;
  if (dest->context != to_context || there != from_context || here != to_context) return kInvalidContext;
  bool may_read = source->pool ? source->pool->readers.count(here->device) : here->peers.count(there);
  if (here != there && !may_read) return kInvalidValue;
  submit(*static_cast<Stream *>(stream), [=] {
    if (there->sticky) return there->sticky;
    if (!is_there(to, nbytes) || !is_there(from, nbytes)) return (int)kIllegalAddress;
    std::memmove((void *)to, (void *)from, nbytes);
    return 0;
  });
  return kSuccess;
}

int cuMemAllocHost_v2(void **memory, size_t nbytes) {
  ENTER();
  if (posix_memalign(memory, kPage, nbytes)) return kOutOfMemory;
  std::memset(*memory, kPoison, nbytes);
  pinned[static_cast<char *>(*memory)] = nbytes;
  return kSuccess;
}

int cuMemFreeHost(void *memory) {
  ENTER();
  auto found = pinned.find(static_cast<char *>(memory));
  if (found == pinned.end()) return kInvalidValue;
  drain_all(current);
  std::free(memory);
  pinned.erase(found);
  return kSuccess;
}

int cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from, size_t nbytes, void *stream) {
  ENTER();
  if (!is_live(streams, stream)) return kInvalidHandle;
  if (!is_usable(to, nbytes)) return kInvalidValue;
  if (is_pinned(from, nbytes)) {  // read when its turn comes, as hardware does
    submit(*static_cast<Stream *>(stream), [=] {
      if (!is_there(to, nbytes)) return (int)kIllegalAddress;
      std::memcpy((void *)to, from, nbytes);
      return 0;
    });
    return kSuccess;
  }
  std::string copy(static_cast<const char *>(from), nbytes);
  submit(*static_cast<Stream *>(stream), [=] {
    if (!is_there(to, nbytes)) return (int)kIllegalAddress;
    std::memcpy((void *)to, copy.data(), nbytes);
    return 0;
  });
  return kSuccess;
}

int cuMemcpyDtoHAsync_v2(void *to, unsigned long long from, size_t nbytes, void *stream) {
  ENTER();
  if (!is_live(streams, stream)) return kInvalidHandle;
  if (!is_usable(from, nbytes)) return kInvalidValue;
  submit(*static_cast<Stream *>(stream), [=] {
    if (!is_there(from, nbytes)) return (int)kIllegalAddress;
    std::memcpy(to, (void *)from, nbytes);
    return 0;
  });
  return is_pinned(to, nbytes) ? kSuccess : drain(*static_cast<Stream *>(stream));
}

// --- streams and events ---

int cuStreamCreate(void **stream, unsigned int) {
  ENTER();
  auto *made = new Stream{current, {}};
  streams.insert(made);
  *stream = made;
  return kSuccess;
}

int cuStreamDestroy_v2(void *stream) {
  ENTER();
  if (!is_live(streams, stream)) return kInvalidHandle;
  auto *found = static_cast<Stream *>(stream);
  drain(*found);
  streams.erase(found);
  delete found;
  return kSuccess;
}

int cuStreamSynchronize(void *stream) {
  ENTER();
  return is_live(streams, stream) ? drain(*static_cast<Stream *>(stream)) : (int)kInvalidHandle;
}

int cuStreamWaitEvent(void *stream, void *event, unsigned int flags) {
  ENTER();
  if (!is_live(streams, stream) || !is_live(events, event)) return kInvalidHandle;
  if (flags) return kInvalidValue;
  auto *found = static_cast<Event *>(event);
  submit(*static_cast<Stream *>(stream), [found, until = found->recorded] {
    while (events.count(found) && found->recorded - found->waiting < until && perform_next(*found->pending)) {}
    return 0;
  });
  return kSuccess;
}

int cuEventCreate(void **event, unsigned int) {
  ENTER();
  auto *made = new Event{current};
  events.insert(made);
  *event = made;
  return kSuccess;
}

int cuEventDestroy_v2(void *event) {
  ENTER();
  if (!is_live(events, event)) return kInvalidHandle;
  auto *found = static_cast<Event *>(event);
  if (found->waiting) drain(*found->pending);
  events.erase(found);
  delete found;
  return kSuccess;
}

int cuEventRecord(void *event, void *stream) {
  ENTER();
  if (!is_live(events, event) || !is_live(streams, stream)) return kInvalidHandle;
  auto *found = static_cast<Event *>(event);
  found->pending = static_cast<Stream *>(stream);
  found->waiting++;
  found->recorded++;
  submit(*found->pending, [] { return 0; }, found);
  return kSuccess;
}

int cuEventSynchronize(void *event) {
  ENTER();
  if (!is_live(events, event)) return kInvalidHandle;
  auto *found = static_cast<Event *>(event);
  while (found->waiting && perform_next(*found->pending)) {}
  return found->context->sticky;
}

int cuEventElapsedTime(float *milliseconds, void *start, void *end) {
  ENTER();
  if (!is_live(events, start) || !is_live(events, end)) return kInvalidHandle;
  auto *first = static_cast<Event *>(start), *last = static_cast<Event *>(end);
  if (!first->recorded || !last->recorded) return kInvalidHandle;
  if (first->waiting || last->waiting) return kNotReady;
  *milliseconds = (float)((last->seconds - first->seconds) * 1e3);
  return kSuccess;
}

// --- PTX ---

int cuLinkCreate_v2(unsigned int count, int *options, void **values, void **link) {
  ENTER();
  auto *made = new Link;
  for (unsigned i = 0; i < count; i++) {
    if (options[i] == 5) made->log = static_cast<char *>(values[i]);
    else if (options[i] == 6) made->log_nbytes = (size_t)values[i];
    else {
      delete made;
      return kInvalidValue;
    }
  }
  links.insert(made);
  *link = made;
  return kSuccess;
}

int cuLinkAddData_v2(void *link, int type, void *data, size_t nbytes, const char *, unsigned int count, int *,
                     void **) {
  ENTER();
  if (!is_live(links, link)) return kInvalidHandle;
  const char *text = static_cast<const char *>(data);
  if (type != 1 || count || !nbytes || text[nbytes - 1]) return kInvalidValue;
  auto *found = static_cast<Link *>(link);
  int arch = (int)setting("PLUGRAD_SIM_ARCH", 90);
  Workshop workshop;
  workshop.write("kernel.ptx", text);
  if (translator.translate(workshop, (int)setting("PLUGRAD_SIM_DRIVER", 12090), arch))
    found->image = workshop.compile(arch, {});
  if (!found->image.empty()) return kSuccess;
  if (found->log_nbytes) std::snprintf(found->log, found->log_nbytes, "%s", workshop.log().c_str());
  return kInvalidPtx;
}

int cuLinkComplete(void *link, void **image, size_t *nbytes) {
  ENTER();
  if (!is_live(links, link)) return kInvalidHandle;
  auto *found = static_cast<Link *>(link);
  *image = found->image.data();  // as long as the link lives
  *nbytes = found->image.size();
  return found->image.empty() ? kInvalidImage : kSuccess;
}

int cuLinkDestroy(void *link) {
  ENTER();
  if (!is_live(links, link)) return kInvalidHandle;
  links.erase(static_cast<Link *>(link));
  delete static_cast<Link *>(link);
  return kSuccess;
}

// --- kernels ---

int cuModuleLoadData(void **module, const void *image) {
  ENTER();
  size_t nbytes = image_size(image);
  if (!nbytes) return kInvalidImage;
  int descriptor = memfd_create("plugrad-cuda-kernel", MFD_CLOEXEC);
  if (descriptor < 0 || write(descriptor, image, nbytes) != (ssize_t)nbytes) return kOutOfMemory;
  // the loader takes equal paths for one library, and descriptors come again: no two paths are equal
  static unsigned long long number = 0;
  std::string path = "/proc/self/fd";
  for (unsigned long long bits = ++number; bits; bits >>= 1) path += bits & 1 ? "/." : "//";
  path += "/" + std::to_string(descriptor);
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  close(descriptor);
  if (!library) {
    complain("a kernel does not load:", dlerror());
    return kInvalidImage;
  }
  auto *made = new Module{current, library};
  modules.insert(made);
  *module = made;
  return kSuccess;
}

int cuModuleUnload(void *module) {
  ENTER();
  if (!is_live(modules, module)) return kInvalidHandle;
  auto *found = static_cast<Module *>(module);
  for (Stream *stream : streams)
    if (stream->context == found->context && !stream->queue.empty()) {
      complain("a module was unloaded while work was waiting", "");
      drain(*stream);
    }
  for (auto each = functions.begin(); each != functions.end();)
    each = each->second->module == found ? functions.erase(each) : std::next(each);
  dlclose(found->library);
  modules.erase(found);
  delete found;
  return kSuccess;
}

int cuModuleGetFunction(void **function, void *module, const char *name) {
  ENTER();
  if (!is_live(modules, module)) return kInvalidHandle;
  auto *found = static_cast<Module *>(module);
  auto *kernel = static_cast<const Kernel *>(dlsym(found->library, (std::string("plugrad_kernel_") + name).c_str()));
  if (!kernel) return kNotFound;
  auto made = std::make_unique<Function>(Function{found, kernel, name});
  *function = made.get();
  functions[made.get()] = std::move(made);
  return kSuccess;
}

int cuFuncSetAttribute(void *function, int attribute, int value) {
  ENTER();
  auto found = functions.find(static_cast<Function *>(function));
  if (found == functions.end()) return kInvalidHandle;
  if (attribute != 8 || value < 0 || value > kSharedMost) return kInvalidValue;
  found->second->shared_most = value;
  return kSuccess;
}

int cuLaunchKernel(void *function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                   unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared_nbytes,
                   void *stream, void **parameters, void **extra) {
  ENTER();
  if (!is_live(streams, stream)) return kInvalidHandle;
  KernelNode what = {function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_nbytes,
                     parameters, extra, nullptr, nullptr};
  Launch launch;
  if (int status = describe(what, launch)) return status;
  submit_launch(*static_cast<Stream *>(stream), launch);
  return kSuccess;
}

// --- graphs ---

int cuGraphCreate(void **graph, unsigned int flags) {
  ENTER();
  if (flags) return kInvalidValue;
  auto *made = new Graph;
  graphs.insert(made);
  *graph = made;
  return kSuccess;
}

int cuGraphDestroy(void *graph) {
  ENTER();
  if (!is_live(graphs, graph)) return kInvalidHandle;
  graphs.erase(static_cast<Graph *>(graph));
  delete static_cast<Graph *>(graph);
  return kSuccess;
}

int cuGraphAddKernelNode_v2(void **node, void *graph, void *const *after, size_t count, const KernelNode *what) {
  ENTER();
  if (!is_live(graphs, graph)) return kInvalidHandle;
  auto *found = static_cast<Graph *>(graph);
  auto made = std::make_unique<Node>();
  for (size_t i = 0; i < count; i++) {
    Node *before = node_of(*found, after[i]);
    if (!before) return kInvalidValue;
    made->after.push_back(before);
  }
  if (int status = describe(*what, made->launch)) return status;
  *node = made.get();
  found->nodes.push_back(std::move(made));
  return kSuccess;
}

int cuGraphInstantiateWithFlags(void **ready, void *graph, unsigned long long flags) {
  ENTER();
  if (!is_live(graphs, graph)) return kInvalidHandle;
  if (flags) return kInvalidValue;
  auto *found = static_cast<Graph *>(graph);
  auto *made = new ReadyGraph{current, found, {}};
  // the edges alone decide: the node added last among those that may run comes first
  std::set<Node *> done;
  while (done.size() < found->nodes.size()) {
    for (auto each = found->nodes.rbegin(); each != found->nodes.rend(); each++) {
      Node *next = each->get();
      bool may_run = !done.count(next);
      for (Node *before : next->after) may_run = may_run && done.count(before);
      if (!may_run) continue;
      made->launches.push_back({next, next->launch});
      done.insert(next);
      break;
    }
  }
  ready_graphs.insert(made);
  *ready = made;
  return kSuccess;
}

int cuGraphExecKernelNodeSetParams_v2(void *ready, void *node, const KernelNode *what) {
  ENTER();
  if (!is_live(ready_graphs, ready)) return kInvalidHandle;
  auto *found = static_cast<ReadyGraph *>(ready);
  if (!graphs.count(const_cast<Graph *>(found->graph))) {
    complain("a node was used whose graph was destroyed", "");
    return kInvalidHandle;
  }
  for (auto &[known, launch] : found->launches) {
    if (known != node) continue;
    Launch changed;
    if (int status = describe(*what, changed)) return status;
    launch = changed;
    return kSuccess;
  }
  return kInvalidValue;
}

int cuGraphExecDestroy(void *ready) {
  ENTER();
  if (!is_live(ready_graphs, ready)) return kInvalidHandle;
  ready_graphs.erase(static_cast<ReadyGraph *>(ready));
  delete static_cast<ReadyGraph *>(ready);  // what was submitted of it has copies
  return kSuccess;
}

int cuGraphLaunch(void *ready, void *stream) {
  ENTER();
  if (!is_live(ready_graphs, ready) || !is_live(streams, stream)) return kInvalidHandle;
  auto *found = static_cast<ReadyGraph *>(ready);
  if (found->context != current) return kInvalidValue;
  for (auto &[node, launch] : found->launches)
    if (!modules.count(launch.module)) {
      complain("a graph was launched whose kernel was unloaded", "");
      return kInvalidHandle;
    }
  for (auto &[node, launch] : found->launches) submit_launch(*static_cast<Stream *>(stream), launch);
  return kSuccess;
}

}  // extern "C"
