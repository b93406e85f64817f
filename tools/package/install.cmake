# SPDX-License-Identifier: MIT
# What `cmake --install` gives: the command, both libraries, the headers, a CMake package, a pkg-config file, scenes,
# compiled shaders and the licence. Nothing installed names a folder of this machine, so the result can be moved.
include(CMakePackageConfigHelpers)

set(MOTE_CMAKE_FOLDER ${CMAKE_INSTALL_LIBDIR}/cmake/mote)
set(MOTE_DATA_FOLDER ${CMAKE_INSTALL_DATADIR}/mote)

# Two export sets: who uses only the shared library needs none of the static one's dependencies.
set_target_properties(mote PROPERTIES PUBLIC_HEADER "${PROJECT_SOURCE_DIR}/src/mote.h;${PROJECT_SOURCE_DIR}/src/mote_cloth.h;${PROJECT_SOURCE_DIR}/src/mote_diffuse.h;${PROJECT_SOURCE_DIR}/src/mote_forces.h;${PROJECT_SOURCE_DIR}/src/mote_gas.h;${PROJECT_SOURCE_DIR}/src/mote_interop.h;${PROJECT_SOURCE_DIR}/src/mote_render.h")
install(TARGETS mote EXPORT mote-static-targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} PUBLIC_HEADER DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS mote_shared EXPORT mote-shared-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS mote_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
foreach(KIND static shared)
    install(EXPORT mote-${KIND}-targets NAMESPACE mote:: DESTINATION ${MOTE_CMAKE_FOLDER})
endforeach()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/mote-config.cmake.in
    ${PROJECT_BINARY_DIR}/package/mote-config.cmake INSTALL_DESTINATION ${MOTE_CMAKE_FOLDER}
    NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/mote-config-version.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/mote-config.cmake ${PROJECT_BINARY_DIR}/package/mote-config-version.cmake
    DESTINATION ${MOTE_CMAKE_FOLDER})

# pkg-config knows where its own file lies: the prefix is given relative to it.
cmake_path(IS_RELATIVE CMAKE_INSTALL_LIBDIR LIBRARY_FOLDER_IS_RELATIVE)
if(LIBRARY_FOLDER_IS_RELATIVE)
    file(RELATIVE_PATH PC_TO_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
    string(REGEX REPLACE "/$" "" PC_TO_PREFIX "${PC_TO_PREFIX}")
    set(PC_PREFIX "\${pcfiledir}/${PC_TO_PREFIX}")
    set(PC_LIBRARIES "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
    set(PC_INCLUDES "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
else() # the packager chose absolute folders: so be it
    set(PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
    set(PC_LIBRARIES "${CMAKE_INSTALL_FULL_LIBDIR}")
    set(PC_INCLUDES "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
endif()
set(PC_LIBRARIES_PRIVATE "${OpenMP_C_FLAGS} -lOpenEXRCore -lopenvdb -ltbb -lstdc++ -ldl -lm")
if(MOTE_CUDA_FOUND)
    # The toolkit's folder is not named here: where it is not searched by itself, LIBRARY_PATH or -L says it.
    string(APPEND PC_LIBRARIES_PRIVATE " -lcudart_static -lrt -lpthread")
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/mote.pc.in ${PROJECT_BINARY_DIR}/package/mote.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/mote.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/scenes/ DESTINATION ${MOTE_DATA_FOLDER}/scenes
    FILES_MATCHING PATTERN "*.json" PATTERN "*.obj" PATTERN "*.png")
install(DIRECTORY ${PROJECT_BINARY_DIR}/shaders/ DESTINATION ${MOTE_DATA_FOLDER}/shaders FILES_MATCHING PATTERN "*.spv")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/mote)
