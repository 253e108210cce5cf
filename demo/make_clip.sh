#!/bin/sh
# Makes demo/clip.m2t, the clip that `deno task demo` plays for ever. It needs Debian's ffmpeg and
# no network; the result is kept in the repository, so nobody has to run this.
#
# Eight seconds are 200 pictures (40 ms) and 375 AAC frames (1024 samples at 48 kHz) exactly, so
# both end together and the loop has no gap. An encoder puts one frame of silence before the
# sound, hence 374 frames of samples. The beep and the white square come together in the middle of
# each second: the seam is silent, and a viewer can judge sound against picture.
#
# No B-frames and closed GOPs of one second: the seam breaks no reference, and a player that joins
# shows a picture within a second. The multiplex has a constant rate and a PCR every 20 ms.
# The name does not end in .ts, which Deno takes for TypeScript.
set -eu
cd "$(dirname "$0")"

ffmpeg -v warning -y \
  -f lavfi -i "testsrc2=size=640x360:rate=25:duration=8,\
drawbox=x=40:y=40:w=80:h=80:color=white:t=fill:enable='between(mod(t,1),0.5,0.58)',format=yuv420p" \
  -f lavfi -i "aevalsrc='if(between(mod(t,1),0.5,0.58),\
0.25*sin(2*PI*1000*t)*sin(PI*(mod(t,1)-0.5)/0.08),0)':s=48000:c=mono,atrim=end_sample=382976" \
  -map 0:v -map 1:a \
  -c:v libx264 -threads 1 -profile:v main -preset veryslow -b:v 450k -maxrate 450k -bufsize 225k \
  -g 25 -keyint_min 25 -sc_threshold 0 -bf 0 -flags +cgop+bitexact -fflags +bitexact \
  -bsf:v filter_units=remove_types=6 -c:a aac -b:a 48k \
  -metadata service_provider=Lockstep -metadata service_name="Lockstep demo" \
  -f mpegts -muxrate 720k -pcr_period 20 clip.m2t
