# SPDX-License-Identifier: MIT
# cmake -DFOLDER=... -DNAMES=a,b,... -DOUTPUT=FILE.c -P embed.cmake: FOLDER/a.spv and so on as arrays of words in C.
string(REPLACE "," ";" NAMES "${NAMES}")
set(ARRAYS "")
set(TABLE "")
foreach(NAME IN LISTS NAMES)
    file(READ ${FOLDER}/${NAME}.spv HEX HEX)
    string(REGEX REPLACE "(..)(..)(..)(..)" "0x\\4\\3\\2\\1,"  WORDS "${HEX}") # SPIR-V here is little-endian
    string(REGEX REPLACE "(0x........,0x........,0x........,0x........,0x........,0x........,0x........,0x........,)" "\\1\n" WORDS "${WORDS}")
    string(APPEND ARRAYS "static const uint32_t words_of_${NAME}[] = {\n${WORDS}\n};\n")
    string(APPEND TABLE "    {\"${NAME}\", words_of_${NAME}, sizeof words_of_${NAME} / 4},\n")
endforeach()
file(WRITE ${OUTPUT}.new "// Made by src/vulkan/embed.cmake.\n#include \"vulkan/shaders.h\"\n\n${ARRAYS}
const SolverShader solver_shaders[] = {\n${TABLE}};
const size_t solver_shader_count = sizeof solver_shaders / sizeof solver_shaders[0];\n")
file(RENAME ${OUTPUT}.new ${OUTPUT})
