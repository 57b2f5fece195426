# The part of `programs` that collects a bundle: programs, their data, all libraries down to the loader, the
# library that is measured, and `programs` itself.

# Replaces a library that no program here uses, and that would be large, by one with the same symbols in C.
replace_library() {
    local name=$1 symbols
    [ -f "$bundle/lib/$name" ] || return 0
    symbols=$(nm -D --defined-only "$bundle/lib/$name" | sed -nE 's/.* ((Z3|icudt)[a-zA-Z0-9_]*)(@.*)?$/\1/p')
    sed 's/.*/const char &[16] = {0};/' <<<"$symbols" | gcc -shared -fPIC "-Wl,-soname,$name" -x c - -o "$bundle/lib/$name" || exit 1
}

# Lists the libraries that the programs loaded, at start or later.
loaded_libraries() {
    local initialised=$work/initialised
    sed -n 's/.*calling init: //p' "$work"/loaded.* | grep '^/' | grep -v count_rounds | sort -u | tee "$initialised"
    # A library that is nothing but data is not initialised.
    xargs ldd <"$initialised" 2>/dev/null | awk '/=> \// { print $3 }'
    echo /lib64/ld-linux-x86-64.so.2
}

# Runs each program once and notes what the loader says.
trace_loading() {
    local program
    export LD_DEBUG=files LD_DEBUG_OUTPUT=$work/loaded
    if uses glmark2; then stop_server && start_server; fi
    for program in "${program_list[@]}"; do
        command_for "$program" 2
        start "$preload" || fail "$program: exit code $?"
        cp "$(command -v "${command[0]}")" "$bundle/bin/" || exit 1
    done
    unset LD_DEBUG LD_DEBUG_OUTPUT
}

add_glmark2() {
    local to=$bundle/share/glmark2
    cp "$(command -v weston)" "$bundle/bin/" &&
        mkdir -p "$to"/{models,textures} &&
        cp -r "$data/shaders" "$to/" &&
        cp "$data"/textures/{desktop,effect}* "$to/textures/" || exit 1
    echo '{"file_format_version": "1.0.0", "ICD": {"library_path": "libEGL_mesa.so.0"}}' \
        >"$bundle/share/egl_vendor.json"
    # A solver in Mesa's compiler, and Unicode for reading XML.
    replace_library libz3.so.4
    for library in "$bundle"/lib/libicudata.so.*; do replace_library "${library##*/}"; done
}

make_bundle() {
    local library
    # Nothing else may be overwritten.
    if [ -n "$(ls -A "$bundle" 2>/dev/null)" ] && [ ! -f "$bundle/lib/libcount_rounds.so" ]; then
        die "--bundle $bundle: the folder is not empty, and no bundle"
    fi
    mkdir -p "$bundle" && bundle=$(realpath "$bundle") || exit 1
    rm -rf "$bundle"/{lib,bin,share}
    mkdir -p "$bundle"/{lib/dri,bin,share} || exit 1

    trace_loading
    loaded_libraries | sort -u | while read -r library; do
        case $library in
            */dri/*) cp -L "$library" "$bundle/lib/dri/" ;;
            *) cp -L "$library" "$bundle/lib/" ;;
        esac
    done
    cp "$preload" "$counter" "$bundle/lib/" && cp "$here/programs" "$bundle/" || exit 1
    if uses csound; then cp "$pieces"/{xanadu,trapped}.csd "$bundle/share/" || exit 1; fi
    if uses glmark2; then add_glmark2; fi
    tar -C "$bundle/.." -c "${bundle##*/}" | xz -T1 --x86 --lzma2=preset=9e >"$bundle.tar.xz" || exit 1
    echo "$bundle.tar.xz: $(($(stat -c %s "$bundle.tar.xz") / 1000000)) MB." \
        "Elsewhere: tar xf ${bundle##*/}.tar.xz && ${bundle##*/}/programs --help"
}
