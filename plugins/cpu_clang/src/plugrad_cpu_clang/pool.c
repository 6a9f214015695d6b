/* Launches kernels on threads that stay up between launches.
 *
 * A launch has n pieces. The calling thread and the workers take pieces from one counter until none is left, so a
 * slow core does fewer of them. Workers wait for the next launch by spinning for some ten microseconds, then they
 * sleep. One launch at a time uses the workers; a launch from another thread meanwhile does its own pieces itself.
 *
 * On Linux the few functions needed are declared here, so that a compiler without the system's headers is enough.
 */

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O1") /* first launches wait for this file: gcc takes 45 ms instead of 62 */
#endif

#if defined(__linux__)
typedef union { long alignment; char bytes[128]; } thread_options; /* those of glibc and musl have up to 64 */
extern int pthread_attr_init(thread_options *);
extern int pthread_attr_setstacksize(thread_options *, unsigned long);
extern int pthread_create(unsigned long *, const thread_options *, void *(*)(void *), void *);
extern int pthread_detach(unsigned long);
extern int pthread_sigmask(int, const void *, void *);
extern int sched_yield(void);
extern long syscall(long, ...);
struct time { long seconds, nanoseconds; };
extern int clock_gettime(int, struct time *);
typedef unsigned long thread_id;
typedef struct { unsigned long words[16]; } signal_set;
#define CLOCK 1
#define SET_MASK 2
#if defined(__x86_64__)
#define FUTEX 202
#else
#define FUTEX 98
#endif
static void fill_signals(signal_set *set) { for (int i = 0; i < 16; i++) set->words[i] = ~0ul; }
#else
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#define time timespec
#define seconds tv_sec
#define nanoseconds tv_nsec
#define CLOCK CLOCK_MONOTONIC
#define SET_MASK SIG_SETMASK
typedef pthread_t thread_id;
typedef sigset_t signal_set;
typedef pthread_attr_t thread_options;
static void fill_signals(signal_set *set) { sigfillset(set); }
static pthread_mutex_t sleep_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t sleep_wakeup = PTHREAD_COND_INITIALIZER;
#endif

typedef void (*kernel)(void *const *bufs, const long long *vals, long long thread);

struct launch {
  kernel function;
  void *const *bufs;
  const long long *vals;
  long long pieces;
};

/* a launch as one block of words: to convert an argument takes Python longer than to store a word */
struct packed_launch {
  kernel function;
  long long pieces;
  long long count;    /* of bufs, */
  void *const bufs[]; /* behind which the values lie */
};

enum { SPINS = 1000, MOST_WORKERS = 512, STACK_BYTES = 8 << 20 };

#define LOAD(x) __atomic_load_n(&(x), __ATOMIC_SEQ_CST)
#define STORE(x, v) __atomic_store_n(&(x), (v), __ATOMIC_SEQ_CST)
#define ADD(x, v) __atomic_fetch_add(&(x), (v), __ATOMIC_SEQ_CST)

/* each on a cache line of its own: the workers write the first three, and watch the fourth */
static long long next_piece __attribute__((aligned(64)));
static int active __attribute__((aligned(64)));
static int sleepers __attribute__((aligned(64)));
static unsigned epoch __attribute__((aligned(64))); /* changes with each launch */
static int is_open; /* whether workers may join the launch */
static int is_busy __attribute__((aligned(64)));
static int workers;
static int worker_limit;
static struct launch current;

static void pause_a_moment(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb" ::: "memory");
#endif
}

static void sleep_while_epoch_is(unsigned seen) {
#if defined(__linux__)
  syscall(FUTEX, &epoch, 128 /* wait, this process */, seen, (void *)0);
#else
  pthread_mutex_lock(&sleep_lock);
  while (LOAD(epoch) == seen) pthread_cond_wait(&sleep_wakeup, &sleep_lock);
  pthread_mutex_unlock(&sleep_lock);
#endif
}

static void wake(int count) {
#if defined(__linux__)
  syscall(FUTEX, &epoch, 129 /* wake, this process */, count);
#else
  pthread_mutex_lock(&sleep_lock);
  pthread_cond_broadcast(&sleep_wakeup);
  pthread_mutex_unlock(&sleep_lock);
#endif
}

static void take_pieces(void) {
  for (;;) {
    long long piece = ADD(next_piece, 1);
    if (piece >= current.pieces) return;
    current.function(current.bufs, current.vals, piece);
  }
}

static void *work(void *argument) {
  unsigned seen = (unsigned)(unsigned long)argument;
  for (;;) {
    for (int i = 0; i < SPINS && LOAD(epoch) == seen; i++) pause_a_moment();
    while (LOAD(epoch) == seen) {
      ADD(sleepers, 1); /* before the last look at epoch, which the futex takes: no wakeup is lost */
      sleep_while_epoch_is(seen);
      ADD(sleepers, -1);
    }
    seen = LOAD(epoch);
    /* announce first, look then: the launcher closes first and then waits for those announced */
    ADD(active, 1);
    if (LOAD(is_open)) take_pieces();
    ADD(active, -1);
  }
  return 0;
}

static void start_workers(long long wanted) {
  if (wanted > worker_limit) wanted = worker_limit;
  if (workers >= wanted) return;
  signal_set all, before;
  fill_signals(&all);
  pthread_sigmask(SET_MASK, &all, &before); /* signals are for the threads of the program */
  thread_options options;
  pthread_attr_init(&options);
  pthread_attr_setstacksize(&options, STACK_BYTES); /* some systems give far less than the first thread's */
  while (workers < wanted) {
    thread_id id;
    if (pthread_create(&id, &options, work, (void *)(unsigned long)LOAD(epoch))) break; /* fewer do it too */
    pthread_detach(id);
    workers++;
  }
  pthread_sigmask(SET_MASK, &before, 0);
}

static void run(struct launch launch) {
  if (launch.pieces > 1 && worker_limit > 0 && !__atomic_exchange_n(&is_busy, 1, __ATOMIC_ACQUIRE)) {
    start_workers(launch.pieces - 1);
    current = launch;
    STORE(next_piece, 0);
    STORE(is_open, 1);
    ADD(epoch, 1);
    if (LOAD(sleepers)) wake(launch.pieces - 1 > MOST_WORKERS ? MOST_WORKERS : (int)launch.pieces - 1);
    take_pieces();
    STORE(is_open, 0);
    for (int i = 0; LOAD(active); i++) {
      if (i < SPINS) pause_a_moment();
      else sched_yield();
    }
    __atomic_store_n(&is_busy, 0, __ATOMIC_RELEASE);
    return;
  }
  for (long long piece = 0; piece < launch.pieces; piece++) launch.function(launch.bufs, launch.vals, piece);
}

static double now(void) {
  struct time t;
  clock_gettime(CLOCK, &t);
  return (double)t.seconds + 1e-9 * (double)t.nanoseconds;
}

/* Run all pieces of one kernel; return the seconds it took. */
double plugrad_launch(const struct packed_launch *given) {
  double start = now();
  run((struct launch){given->function, given->bufs, (const long long *)(given->bufs + given->count), given->pieces});
  return now() - start;
}

/* Run a prepared list, one kernel after the other; return the seconds it took. */
double plugrad_launch_many(const struct launch *launches, long long count) {
  double start = now();
  for (long long i = 0; i < count; i++) run(launches[i]);
  return now() - start;
}

static void copy_piece(void *const *bufs, const long long *vals, long long piece) {
  long long start = piece * vals[1], end = start + vals[1] < vals[0] ? start + vals[1] : vals[0];
  __builtin_memcpy((char *)bufs[0] + start, (const char *)bufs[1] + start, (unsigned long)(end - start));
}

/* Copy memory, in pieces of piece_bytes on all threads. */
void plugrad_copy(void *to, const void *from, long long nbytes, long long piece_bytes) {
  void *bufs[2] = {to, (void *)from};
  long long vals[2] = {nbytes, piece_bytes};
  run((struct launch){copy_piece, bufs, vals, (nbytes + piece_bytes - 1) / piece_bytes});
}

/* Allow this many threads in all, the caller's included. */
void plugrad_set_threads(int threads) {
  worker_limit = threads - 1 > MOST_WORKERS ? MOST_WORKERS : threads - 1;
}

int plugrad_count_workers(void) { return workers; }

/* In a forked child the workers are gone: start over. */
void plugrad_after_fork(void) {
  workers = active = sleepers = is_open = is_busy = 0;
#if !defined(__linux__)
  pthread_mutex_init(&sleep_lock, 0);
  pthread_cond_init(&sleep_wakeup, 0);
#endif
}
