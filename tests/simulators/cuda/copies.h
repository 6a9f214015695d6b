// Copies that go on beside a thread: here they wait, until the thread waits for them.
//
// Source: PTX ISA, sections "cp.async", "cp.async.commit_group" and "cp.async.wait_group".
#pragma once

struct plugrad_copy { void *to; const void *from; int nbytes, read, group; };
// The copies of a thread, and the groups that it has ended.
struct plugrad_copying { plugrad_copy *copies; int count, room, groups; };

static inline plugrad_copying &plugrad_copies_of_thread() {
  static thread_local plugrad_copying each[1024];
  return each[threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)];
}

template <int nbytes, int arch = __CUDA_ARCH__> static inline void plugrad_copy_async(void *to, const void *from, unsigned int read) {
  static_assert(arch >= 800, "this GPU has no cp.async");
  static_assert(nbytes == 4 || nbytes == 8 || nbytes == 16, "a copy has 4, 8 or 16 bytes");
  if ((unsigned long long)to % nbytes || (unsigned long long)from % nbytes) __builtin_trap();
  if (read > nbytes) __builtin_trap();
  plugrad_copying &mine = plugrad_copies_of_thread();
  if (mine.count == mine.room) {
    mine.room = mine.room ? 2 * mine.room : 64;
    mine.copies = (plugrad_copy *)__builtin_realloc(mine.copies, mine.room * sizeof(plugrad_copy));
  }
  mine.copies[mine.count++] = {to, from, nbytes, (int)read, mine.groups};
}

static inline void plugrad_commit_copies() { plugrad_copies_of_thread().groups++; }

static inline void plugrad_wait_for_copies(int left) {
  plugrad_copying &mine = plugrad_copies_of_thread();
  int waiting = 0;
  for (int i = 0; i < mine.count; i++) {
    plugrad_copy copy = mine.copies[i];
    if (copy.group >= mine.groups - left) {
      mine.copies[waiting++] = copy;
      continue;
    }
    __builtin_memset(copy.to, 0, copy.nbytes);
    __builtin_memcpy(copy.to, copy.from, copy.read);
  }
  mine.count = waiting;
}
