"""The part of the stand-in that is written in C++: memory that can be forbidden, and threads."""

import ctypes
import os

runtime = ctypes.PyDLL(os.environ["PLUGRAD_SIM_RUNTIME"])
runtime.plugrad_alloc.restype = ctypes.c_void_p
runtime.plugrad_alloc.argtypes = (ctypes.c_size_t,)
runtime.plugrad_protect.argtypes = (ctypes.c_void_p, ctypes.c_int)
runtime.plugrad_is_whole.argtypes = (ctypes.c_void_p,)
runtime.plugrad_release.argtypes = (ctypes.c_void_p,)
runtime.plugrad_run.argtypes = (ctypes.c_void_p,) * 4
runtime.plugrad_complaint.restype = ctypes.c_char_p
runtime.plugrad_start()
