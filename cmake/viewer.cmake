# SPDX-License-Identifier: MIT
# The page of `costate report`: viewer/ and its npm packages become viewer.js and viewer.css, which src/report/viewer.S puts
# into the library. Without npm, or without a network to fetch the packages the first time, both are empty: everything else
# works, and `costate report` says what is missing. Packages go to the build directory, at the versions of the lock file.

if(CMAKE_SCRIPT_MODE_FILE) # cmake -P: SOURCE, BUILD, NPM
    file(COPY ${SOURCE}/package.json ${SOURCE}/package-lock.json DESTINATION ${BUILD})
    execute_process(COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund --loglevel=error WORKING_DIRECTORY ${BUILD}
                    OUTPUT_VARIABLE said ERROR_VARIABLE said RESULT_VARIABLE failed)
    if(NOT failed)
        execute_process(COMMAND ${CMAKE_COMMAND} -E env NODE_PATH=${BUILD}/node_modules ${BUILD}/node_modules/.bin/esbuild
                        ${SOURCE}/main.js --bundle --minify --target=es2020 --format=iife --charset=utf8
                        --legal-comments=eof --log-level=warning --outfile=${BUILD}/viewer.js
                        OUTPUT_VARIABLE said ERROR_VARIABLE said RESULT_VARIABLE failed)
    endif()
    if(failed)
        message("the viewer of reports is left out: ${said}")
        file(WRITE ${BUILD}/viewer.js "")
        file(WRITE ${BUILD}/viewer.css "")
    endif()
    return()
endif()

enable_language(ASM)
set(viewer_dir ${PROJECT_BINARY_DIR}/viewer)
file(MAKE_DIRECTORY ${viewer_dir})
if(EXISTS ${viewer_dir}/viewer.js) # left out last time: try again
    file(SIZE ${viewer_dir}/viewer.js viewer_size)
    if(viewer_size EQUAL 0)
        file(REMOVE ${viewer_dir}/viewer.js)
    endif()
endif()

find_program(NPM npm)
find_program(NODE NAMES node nodejs)
if(NPM AND NODE)
    file(GLOB viewer_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/viewer/*.js ${PROJECT_SOURCE_DIR}/viewer/*.css
         ${PROJECT_SOURCE_DIR}/viewer/package*.json)
    add_custom_command(OUTPUT ${viewer_dir}/viewer.js ${viewer_dir}/viewer.css
        COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR}/viewer -DBUILD=${viewer_dir} -DNPM=${NPM}
                -P ${CMAKE_CURRENT_LIST_FILE}
        DEPENDS ${viewer_sources} ${CMAKE_CURRENT_LIST_FILE} COMMENT "Bundling the viewer of reports")
else()
    message(STATUS "npm not found: `costate report` is left out")
    file(WRITE ${viewer_dir}/viewer.js "")
    file(WRITE ${viewer_dir}/viewer.css "")
endif()

set(viewer_object ${PROJECT_SOURCE_DIR}/src/report/viewer.S)
set_source_files_properties(${viewer_object} PROPERTIES OBJECT_DEPENDS "${viewer_dir}/viewer.js;${viewer_dir}/viewer.css"
                            COMPILE_OPTIONS "-I${viewer_dir}")
target_sources(objects PRIVATE ${viewer_object})
