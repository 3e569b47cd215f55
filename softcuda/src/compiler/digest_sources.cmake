# Writes HEADER with a digest of SOURCES and of BUILD, the settings of builds whose passes must run themselves: with
# assertions, sanitizers or counters of lines.
set(digests "${BUILD}")
foreach(source IN LISTS SOURCES)
  file(SHA256 ${source} digest)
  string(APPEND digests " ${digest}")
endforeach()
string(SHA256 digest "${digests}")
file(WRITE ${HEADER} "#define SOFTCUDA_MACHINE_CODE_SOURCES \"${digest}\"\n")
