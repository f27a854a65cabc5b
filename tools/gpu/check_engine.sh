#!/usr/bin/env bash
# check_engine.sh [PART...]: checks and times the CUDA engine on a GPU machine. Run it from the
# unpacked folder of tools/gpu/pack_engine.py. Parts (default: all):
#   cases      operator cases, every implementation, against the host reference
#   tuned      the same with timed candidates
#   sanitizer  compute-sanitizer (TOOLS, default memcheck and racecheck) over the operator cases by the engine's own
#              kernels, THREADS cases at once, at most LIMIT seconds each (default 300); prints those that failed or did
#              not end
#   resnet50   ResNet-50 FP16: answers against OpenVINO, times at BATCHES (default 1,8,64,256)
#   streams    ResNet-50 FP16, two streams at once
#   load       ResNet-50 FP16 over UINT8 pixels through `proa serve`, closed loop of batch-1 requests
#   mobilenet  MobileNetV2 and EfficientNet-Lite0 FP16 like resnet50, at batch 1, 8 and 64
#   fp32       ResNet-50 FP32 without rounding, and TF32, at batch 8 and 64; PyTorch beside it
#   torch      PyTorch's ResNet-50 in one CUDA graph: FP16, FP32 without and with TF32
#   compile    PyTorch's networks by torch.compile, FP16 (PAIRS: like resnet50:8 resnet50:64; minutes)
#   serve      ResNet-50 FP16 through `proa serve` over HTTP and gRPC, against ONNX Runtime; again
#              with an operator in its middle that the engine does not know
#   networks   real structures and trained networks through `proa serve`: FP32 and FP16 against OpenVINO
#   photos     EfficientNet-Lite0's classes of labelled photographs: FP16 against FP32
#   inputs     ResNet-50 FP16 from FP16 pixels, FP32 planes and UINT8 pixels with normalisation
#   gpus       on a machine of two GPUs: answers of both, and the load of one and of two
#   warm       ResNet-50 again with the tuning cache of the part before, built by 1, 4 and 16 threads
# Not among the default ones: compile, gpus.
# PYTHON (default python3) must have onnx, numpy, onnxruntime and grpcio; NVIDIA's libraries are taken from its packages
# when they are there, else from the system.
set -u
cd "$(dirname "$0")"
PYTHON=${PYTHON:-python3}
BATCHES=${BATCHES:-1,8,64,256}
CASES=${CASES:-cases}
THREADS=${THREADS:-$(nproc)}
TOOLS=${TOOLS:-memcheck racecheck}
LIMIT=${LIMIT:-300}
OUT=${OUT:-.}
packages=$("$PYTHON" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
paths=$(find "$packages/nvidia" -maxdepth 4 \( -name 'libcudnn.so.9' -o -name 'libcublasLt.so.13' \
  -o -name 'libcudart.so.13' -o -name 'libnvrtc.so.13' \) -printf '%h\n' 2>/dev/null | sort -u | paste -sd:)
export LD_LIBRARY_PATH="$PWD/lib:${paths:+$paths:}${LD_LIBRARY_PATH:-}"
failed=0
part() {
  echo "== $*"
  "$@" || { failed=1; echo "== FAILED: $*"; }
}
# One folder for each case, so that many run at once.
split_cases() {
  rm -rf one_case
  mkdir one_case
  for file in "$CASES"/*.txt; do
    awk -v folder="one_case/$(basename "$file" .txt)" '
      /^case / { close(out); out = folder "." $2 "/case.txt"; system("mkdir -p \"" folder "." $2 "\"") }
      out { print > out }' "$file"
  done
}
# sanitize_case TOOL FOLDER
sanitize_case() {
  local log=$2/$1.log
  timeout -k 10 "$LIMIT" compute-sanitizer --tool "$1" --error-exitcode 9 \
    ./engine_check cases "$2" --own > "$log" 2>&1
  local result=$?
  [ $result = 0 ] && return
  echo "$1 $2: exit status $result"
  grep -E "Invalid|[Ee]rror|[Hh]azard|^FAILED" "$log" | head -n 4
  return 1
}
# sanitize TOOL: the GPU is shared, more than 16 at once gain nothing.
sanitize() {
  local at_once=$((THREADS < 16 ? THREADS : 16))
  printf '%s\0' one_case/*/ | xargs -0 -P "$at_once" -I{} bash -c 'sanitize_case "$@"' - "$1" {}
  local result=$?
  cat one_case/*/"$1.log" | awk -v tool="$1" '
    / passed, .* failed/ { cases++; passed += $1 }
    END { print tool ": " cases + 0 " cases, " passed + 0 " checks passed"; exit !cases }' || result=1
  return $result
}
export -f sanitize_case
export LIMIT
model() { [ -f resnet50.onnx ] || "$PYTHON" resnet.py resnet50.onnx; }
nvidia-smi --query-gpu=name,driver_version,clocks.sm,memory.used --format=csv
for name in ${*:-cases tuned sanitizer resnet50 warm inputs mobilenet fp32 torch networks photos serve streams load}; do
  case $name in
    cases) part ./engine_check cases "$CASES" ;;
    tuned) part ./engine_check cases "$CASES" --tune ;;
    sanitizer)
      split_cases
      for tool in $TOOLS; do part sanitize "$tool"; done ;;
    resnet50)
      model
      rm -f "$OUT/tuning.txt"
      part ./engine_check network resnet50.onnx --buckets "$BATCHES" --threads "$THREADS" \
        --cache "$OUT/tuning.txt" ;;
    warm)
      model
      for threads in 1 4 16; do
        part ./engine_check network resnet50.onnx --buckets "$BATCHES" --threads $threads \
          --cache "$OUT/tuning.txt" --unchecked
      done ;;
    streams)
      model
      part ./engine_check network resnet50.onnx --buckets 8,64,256 --threads "$THREADS" --streams 2 \
        --cache "$OUT/tuning.txt" --unchecked ;;
    load) part "$PYTHON" serve_load.py . ;;
    mobilenet)
      [ -f mobilenet_v2.onnx ] || "$PYTHON" mobilenet.py mobilenet_v2.onnx
      for network in mobilenet_v2 efficientnet_lite0; do
        part ./engine_check network $network.onnx --buckets 1,8,64 --threads "$THREADS" \
          --cache "$OUT/tuning.txt"
      done ;;
    fp32)
      model
      for precision in f32 tf32; do
        part ./engine_check network resnet50.onnx --buckets 8,64 --precision $precision \
          --threads "$THREADS" --cache "$OUT/tuning.txt"
      done ;;
    torch) part "$PYTHON" torch_networks.py ;;
    compile) part "$PYTHON" torch_networks.py compile ${PAIRS:-} ;;
    serve)
      model
      part "$PYTHON" serve_resnet50.py .
      part "$PYTHON" serve_resnet50.py . --plant ;;
    gpus)
      model
      part "$PYTHON" serve_resnet50.py .
      part "$PYTHON" serve_load.py . 0
      part "$PYTHON" serve_load.py . 0,1 ;;
    networks) part "$PYTHON" serve_networks.py . ;;
    photos) part "$PYTHON" serve_photographs.py . ;;
    inputs)
      for input in planes pixels_half pixels; do
        file=resnet50_$input.onnx
        [ -f $file ] || "$PYTHON" resnet.py $file --input $input
        part ./engine_check network $file --buckets 1,8,64 --threads "$THREADS" --cache "$OUT/tuning.txt"
      done ;;
    *) echo "unknown part '$name'"; failed=1 ;;
  esac
done
nvidia-smi --query-gpu=clocks.sm,clocks.mem,temperature.gpu --format=csv,noheader
exit $failed
