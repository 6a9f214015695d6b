from dataclasses import replace

from plugrad.dtype import STORABLE, dtypes
from plugrad.settings import context
from plugrad_opencl.capabilities import capabilities


def test_a_cpu_runs_loops_on_vectors_in_as_many_pieces_as_it_has_cores(cpu):
    can = capabilities(cpu)
    assert (can.grid_dims, can.vector_bits, can.max_load_bits, can.threads) == (0, 256, 256, 8)
    assert can.max_workgroup == 0
    with context(THREADS=3):
        assert capabilities(cpu).threads == 3


def test_a_gpu_launches_grids_of_scalar_work_items(gpu):
    can = capabilities(gpu)
    assert (can.grid_dims, can.vector_bits, can.threads) == (3, 0, 1)
    assert can.max_workgroup == 1024
    assert can.max_workgroup_dims == (4096, 4096, 4096)
    assert can.local_memory_bytes == 1 << 20


def test_vectors_have_at_most_16_lanes(cpu, gpu):
    assert capabilities(cpu).lanes(dtypes.uint8) == 16
    assert capabilities(gpu).max_lanes == 16


def test_wide_vectors_come_with_twice_the_registers(cpu, changed):
    assert capabilities(cpu).vector_registers == 16
    assert capabilities(changed(cpu, vector_bits="512")).vector_registers == 32


def test_a_processor_may_multiply_half_a_vector_in_a_cycle(cpu, changed):
    wide = changed(cpu, vector_bits="512")
    assert capabilities(wide).vector_unit_bits == 512
    assert capabilities(replace(wide, arch="znver4")).vector_unit_bits == 256


def test_what_a_device_lacks_is_left_to_the_core(cpu, gpu, changed):
    everything = frozenset(STORABLE)
    assert capabilities(gpu).compute_dtypes == everything - {dtypes.bfloat16}
    assert capabilities(cpu).compute_dtypes == everything - {dtypes.bfloat16, dtypes.float16}
    assert capabilities(cpu).storage_dtypes == everything
    assert dtypes.float64 not in capabilities(changed(cpu, fp64="")).storage_dtypes


def test_functions_are_native_where_the_profile_bounds_their_error(cpu, changed):
    bounded = {"EXP", "EXP2", "LOG2"}
    assert capabilities(cpu).native_ops >= bounded
    assert not capabilities(changed(cpu, profile="EMBEDDED_PROFILE")).native_ops & bounded


def test_buffers_are_as_many_as_parameters_hold(cpu, changed):
    assert capabilities(cpu).max_buffers == 56
    assert capabilities(changed(cpu, parameter_bytes="4352")).max_buffers == 264


def test_integers_of_64_bits_are_updated_where_an_extension_does(gpu, changed):
    base, extended = "cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics"
    of_32_bits = {("ADD", d) for d in (dtypes.int32, dtypes.uint32, dtypes.float32)}
    of_32_bits |= {("MAX", d) for d in (dtypes.int32, dtypes.uint32)}
    assert capabilities(gpu).atomic_ops == of_32_bits
    added = {("ADD", d) for d in (dtypes.int64, dtypes.uint64)}
    assert capabilities(changed(gpu, int64_atomics=base)).atomic_ops == of_32_bits | added
    both = capabilities(changed(gpu, int64_atomics=f"{base} {extended}")).atomic_ops
    assert both == of_32_bits | added | {("MAX", d) for d in (dtypes.int64, dtypes.uint64)}


def test_loops_of_a_cpu_update_nothing(cpu):
    assert not capabilities(cpu).atomic_ops
