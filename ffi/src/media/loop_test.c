#include "media/loop.h"

#include "base/prng.h"
#include "base/time.h"
#include "lockstep.h"
#include "media/testing.h"

enum { PACKETS_MAX = 1000, VIDEO = 0x100, AUDIO = 0x101, OTHER = 0x1ABC };

/* A clip made by hand, and what a test knows of it. */
struct clip {
  uint8_t bytes[PACKETS_MAX][LS_TS_SIZE];
  uint32_t packets;
  uint32_t pcr_at[PACKETS_MAX]; /* packets with a PCR that times the clip */
  int64_t pcr[PACKETS_MAX];     /* its ticks after the first one */
  uint32_t pcrs;
  int64_t first_pcr;
  int64_t lap_ticks;
};

static struct clip clip;
static struct ls__ts_loop loop;
static char sentence[300];

static int init(int64_t rate_bps) {
  sentence[0] = 0;
  return ls__ts_loop_init(&loop, clip.bytes[0], (uint64_t)clip.packets * LS_TS_SIZE, rate_bps,
                          sentence, sizeof sentence);
}

static void init_well(int64_t rate_bps) {
  if (init(rate_bps) != 0)
    fail_msg("%s", sentence);
}

static uint8_t *add(uint16_t pid, uint8_t *continuity) {
  assert_true(clip.packets < PACKETS_MAX);
  uint8_t *packet = clip.bytes[clip.packets++];
  ls__test_packet(packet, pid, (*continuity)++, (uint8_t)clip.packets);
  return packet;
}

static void add_pcr(uint8_t *packet, int64_t ticks) {
  clip.pcr_at[clip.pcrs] = clip.packets - 1;
  clip.pcr[clip.pcrs++] = ticks;
  ls__test_pcr(packet, ls__pcr_add(clip.first_pcr, ticks), clip.packets % 3 == 0);
}

/* A random clip: pictures of 25 or 29.97 a second with a DTS, sound, another programme's PCR,
 * packets without payload, a packet sent twice, null packets; all stamps near their wrap in a
 * third of the runs. */
static void make_clip(struct ls__prng *prng) {
  memset(&clip, 0, sizeof clip);
  int64_t picture = ls__prng_below(prng, 2) ? 3600 : 3003;
  uint32_t pictures = 5 + (uint32_t)ls__prng_below(prng, 30);
  clip.lap_ticks = picture * pictures * 300;
  int64_t near_wrap = LS_PCR_WRAP - (int64_t)ls__prng_below(prng, 3 * LS_PCR_HZ);
  clip.first_pcr = ls__prng_below(prng, 3) ? (int64_t)ls__prng_below(prng, LS_PCR_WRAP) : near_wrap;
  int64_t first_pts = ls__stamp_add(clip.first_pcr / 300, 20000);
  uint32_t count = pictures * (8 + (uint32_t)ls__prng_below(prng, 16));
  uint8_t video = (uint8_t)ls__prng_next(prng), audio = (uint8_t)ls__prng_next(prng), other = 3,
          none = 0;
  uint32_t pcr_at = (uint32_t)ls__prng_below(prng, 8), shown = 0;
  while (clip.packets < count) {
    uint32_t now = clip.packets;
    if (now >= pcr_at) {
      /* Evenly in time, give or take a quarter of a picture. */
      int64_t ticks = clip.lap_ticks * now / count + (int64_t)ls__prng_below(prng, 90 * 3600);
      bool alone = ls__prng_below(prng, 2);
      uint8_t *packet = add(VIDEO, &video);
      if (alone) {
        /* Without payload the counter stands (§2.4.3.3). */
        packet[3] &= 0xEF;
        ls__ts_set_continuity(packet, (uint8_t)(--video - 1));
      }
      add_pcr(packet, clip.pcrs ? ticks : 0);
      pcr_at = now + 1 + count / pictures + (uint32_t)ls__prng_below(prng, 5);
    } else if (shown < pictures && now >= 2 + shown * count / pictures) {
      /* Pictures in coding order: each second pair swapped. */
      int64_t order = shown % 4 == 1 && shown + 1 < pictures ? shown + 1
                      : shown % 4 == 2                       ? shown - 1
                                                             : shown;
      ls__test_pes(add(VIDEO, &video), 0xE0, ls__stamp_add(first_pts, order * picture),
                   ls__stamp_add(first_pts, (shown - 2) * picture));
      shown++;
    } else {
      switch (ls__prng_below(prng, 8)) {
      case 0:
        add(LS_TS_PID_NULL, &none);
        break;
      case 1:
        ls__test_pes(add(AUDIO, &audio), 0xC0, ls__stamp_add(first_pts, now * 100), -1);
        break;
      case 2:
        if (clip.pcrs > 0) /* the first PCR decides which PID times the clip */
          ls__test_pcr(add(OTHER, &other), (int64_t)ls__prng_below(prng, LS_PCR_WRAP), false);
        break;
      case 3: {
        const uint8_t *packet = add(AUDIO, &audio);
        if (clip.packets < count)
          memcpy(clip.bytes[clip.packets++], packet, LS_TS_SIZE);
        break;
      }
      default:
        add(VIDEO, &video);
      }
    }
  }
  assert_int_equal(shown, pictures);
  assert_true(clip.pcrs >= 2);
}

/* The time of packet k by the PCRs around it, rounded down; the first packet is at 0. */
static int64_t clip_ticks(uint32_t k) {
  __int128 lead_ticks = clip.pcr[1], lead_packets = clip.pcr_at[1] - clip.pcr_at[0];
  if (k < clip.pcr_at[0])
    return (int64_t)(k * lead_ticks / lead_packets);
  uint32_t i = 0;
  while (i + 2 < clip.pcrs && clip.pcr_at[i + 1] <= k)
    i++;
  __int128 ticks = clip.pcr[i + 1] - clip.pcr[i], packets = clip.pcr_at[i + 1] - clip.pcr_at[i];
  return (int64_t)(clip.pcr_at[0] * lead_ticks / lead_packets + clip.pcr[i] +
                   (k - clip.pcr_at[i]) * ticks / packets);
}

static bool is_null(const uint8_t *packet) {
  return ls__ts_pid(packet) == LS_TS_PID_NULL;
}

/* The clip's packet `k` as it must leave `late` ticks after its time in lap `lap`. */
static void expected(uint8_t packet[LS_TS_SIZE], uint32_t k, int64_t lap, int64_t late) {
  memcpy(packet, clip.bytes[k], LS_TS_SIZE);
  int64_t pcr, shift = lap * clip.lap_ticks;
  if (ls__ts_pcr_get(packet, &pcr))
    ls__ts_pcr_put(packet, ls__pcr_add(pcr, shift + late));
  struct ls__ts_stamps stamps;
  if (ls__ts_stamps_get(packet, &stamps)) {
    stamps.pts = ls__stamp_add(stamps.pts, shift / 300);
    if (stamps.dts_at)
      stamps.dts = ls__stamp_add(stamps.dts, shift / 300);
    ls__ts_stamps_put(packet, &stamps);
  }
  if (ls__ts_pid(packet) == VIDEO)
    ls__ts_clear_discontinuity(packet);
}

/* Continuity as a receiver checks it: grows by one with a payload, stands without, and a packet
 * may come twice. */
struct continuity {
  int16_t last[LS_TS_PIDS];
  uint8_t packet[LS_TS_PIDS][LS_TS_SIZE];
};

static void check_continuity(struct continuity *seen, const uint8_t *packet) {
  uint16_t pid = ls__ts_pid(packet);
  uint8_t now = ls__ts_continuity(packet);
  if (seen->last[pid] >= 0) {
    bool twice = memcmp(seen->packet[pid], packet, LS_TS_SIZE) == 0;
    uint8_t step = ls__ts_has_payload(packet) && !twice;
    assert_int_equal(now, (seen->last[pid] + step) % 16);
  }
  seen->last[pid] = now;
  memcpy(seen->packet[pid], packet, LS_TS_SIZE);
}

/* Some laps of random clips at random rates, packet by packet against the model. */
static void test_model(void **state) {
  (void)state;
  static struct continuity seen;
  struct ls__prng prng;
  for (unsigned seed = 0; seed < 60; seed++) {
    ls__prng_seed(&prng, seed);
    make_clip(&prng);
    init_well(LS_TS_RATE_MAX);
    int64_t rate = loop.clip_bps + 1 + (int64_t)ls__prng_below(&prng, seed % 2 ? 1000 : 10000000);
    init_well(rate);
    assert_int_equal(loop.lap_ticks, clip.lap_ticks);
    memset(seen.last, 0xFF, sizeof seen.last);
    int64_t origin = clip.first_pcr - clip_ticks(clip.pcr_at[0]), lap = 0;
    uint32_t k = 0;
    for (int64_t place = 0; lap < 40; place++) {
      uint8_t out[LS_TS_SIZE], want[LS_TS_SIZE];
      int64_t at_ns, pcr;
      ls__ts_loop_next(&loop, out, &at_ns);
      int64_t ticks = (int64_t)((__int128)place * LS_TS_BITS * LS_PCR_HZ / rate);
      assert_int_equal(at_ns, (__int128)place * LS_TS_BITS * LS_S / rate);
      for (; is_null(clip.bytes[k % clip.packets]); k++)
        ;
      lap += k / clip.packets;
      k %= clip.packets;
      for (; is_null(clip.bytes[k]); k++)
        ;
      int64_t late = ticks - lap * clip.lap_ticks - clip_ticks(k);
      if (late < 0) {
        /* Nothing is due: a null packet, and only then. */
        ls__ts_null(want);
        assert_memory_equal(out, want, LS_TS_SIZE);
        continue;
      }
      expected(want, k, lap, late);
      ls__ts_set_continuity(want, ls__ts_continuity(out));
      assert_memory_equal(out, want, LS_TS_SIZE);
      check_continuity(&seen, out);
      if (ls__ts_pid(out) == VIDEO && ls__ts_pcr_get(out, &pcr))
        assert_int_equal(ls__pcr_diff(pcr, ls__pcr_add(origin, ticks)), 0);
      k++;
      lap += k / clip.packets;
      k %= clip.packets;
    }
  }
}

/* A clip of 100 packets, ten a picture, one PCR each, at 10 ms a packet. */
static void make_plain(int64_t first_pcr) {
  memset(&clip, 0, sizeof clip);
  clip.first_pcr = first_pcr;
  uint8_t video = 0;
  for (uint32_t i = 0; i < 100; i++) {
    uint8_t *packet = add(VIDEO, &video);
    if (i % 10 == 0) {
      add_pcr(packet, i * 270000);
      ls__test_pes(packet, 0xE0, ls__stamp_add(first_pcr / 300, i * 900), -1);
    }
  }
}

/* Over the wrap of the PCR, 26.5 h, and with it the wrap of the PTS. */
static void test_wrap(void **state) {
  (void)state;
  make_plain(LS_PCR_WRAP - 300 * 1000);
  init_well(150401);
  assert_int_equal(loop.lap_ticks, LS_PCR_HZ);
  /* 100 packets of 1504 bit in a second. */
  assert_int_equal(loop.clip_bps, 150400);
  init_well(300800);
  int64_t last_pcr = -1, last_pts = -1;
  uint32_t wraps = 0, pcrs = 0;
  for (uint32_t place = 0; place < 2000; place++) {
    uint8_t out[LS_TS_SIZE];
    int64_t at_ns, pcr;
    struct ls__ts_stamps stamps;
    ls__ts_loop_next(&loop, out, &at_ns);
    assert_int_equal(at_ns, place * 5 * LS_MS);
    assert_int_equal(is_null(out), place % 2);
    if (!ls__ts_pcr_get(out, &pcr))
      continue;
    assert_true(ls__ts_stamps_get(out, &stamps));
    if (pcrs++ > 0) {
      assert_int_equal(ls__pcr_diff(pcr, last_pcr), 2700000);
      assert_int_equal(ls__stamp_diff(stamps.pts, last_pts), 9000);
      wraps += pcr < last_pcr;
    }
    last_pcr = pcr;
    last_pts = stamps.pts;
  }
  assert_int_equal(pcrs, 100);
  assert_int_equal(wraps, 1);
}

/* Without pictures the sound measures a lap; without stamps the PCRs do. */
static void test_lap_without_video(void **state) {
  (void)state;
  memset(&clip, 0, sizeof clip);
  uint8_t continuity = 0;
  for (uint32_t i = 0; i < 100; i++) {
    uint8_t *packet = add(AUDIO, &continuity);
    if (i % 10 == 3)
      add_pcr(packet, clip.pcrs * 2700000);
    else if (i % 20 == 4)
      ls__test_pes(packet, 0xC0, i * 950, -1);
  }
  init_well(1000000);
  assert_int_equal(loop.lap_ticks, 5 * 20 * 950 * 300);
  for (uint32_t i = 0; i < clip.packets; i++)
    clip.bytes[i][1] &= 0xBF; /* no PES packet begins any more */
  init_well(1000000);
  assert_int_equal(loop.lap_ticks, LS_PCR_HZ);
  /* One PTS gives no distance. */
  clip.bytes[4][1] |= 0x40;
  init_well(1000000);
  assert_int_equal(loop.lap_ticks, LS_PCR_HZ);
}

/* PCRs in packets side by side; a lap of 10/9 of 3 · 3003 + 1 ticks, rounded to the nearest. */
static void test_small_clips(void **state) {
  (void)state;
  make_plain(5);
  for (uint32_t i = 0; i < 100; i++)
    clip.bytes[i][1] &= 0xBF;
  clip.packets = 3;
  for (uint32_t i = 0; i < 3; i++)
    ls__test_pcr(clip.bytes[i], 300 * i * (i + 1), false); /* 0, 600, 1800: then 3000 */
  init_well(LS_TS_RATE_MAX);
  assert_int_equal(loop.lap_ticks, 3000);
  int64_t last = 0;
  for (uint32_t i = 0; i < 30;) {
    uint8_t out[LS_TS_SIZE];
    int64_t at_ns;
    ls__ts_loop_next(&loop, out, &at_ns);
    if (is_null(out))
      continue;
    int64_t due = i / 3 * 3000 + 300 * (i % 3) * (i % 3 + 1);
    /* The first place at or after its time; a place takes 150.4 ns, 4.06 ticks. */
    assert_in_range(at_ns, due * 1000 / 27, due * 1000 / 27 + 191);
    last = at_ns;
    i++;
  }
  assert_true(last > 1000000);

  make_plain(0);
  for (uint32_t i = 0; i < 100; i += 10)
    ls__test_pes(clip.bytes[i], 0xE0, i < 90 ? i * 900 : 81004, -1);
  init_well(1000000);
  assert_int_equal(loop.lap_ticks, 90004 * 300); /* 81004 · 10 / 9 = 90004.4 */
  ls__test_pes(clip.bytes[90], 0xE0, 81005, -1);
  init_well(1000000);
  assert_int_equal(loop.lap_ticks, 90006 * 300); /* 90005.6 */
  /* Two pictures are enough. */
  for (uint32_t i = 20; i < 100; i++)
    clip.bytes[i][1] &= 0xBF;
  ls__test_pes(clip.bytes[10], 0xE0, 45000, -1);
  init_well(1000000);
  assert_int_equal(loop.lap_ticks, 90000 * 300);
  /* PCRs and pictures may differ by one second, by no more: the PCRs say 1 s. */
  ls__test_pes(clip.bytes[10], 0xE0, 90000, -1);
  init_well(1000000);
  assert_int_equal(loop.lap_ticks, 180000 * 300);
  ls__test_pes(clip.bytes[10], 0xE0, 90001, -1);
  assert_int_equal(init(1000000), LS_EFORMAT);
}

static void refused(int want, int64_t rate_bps, const char *words) {
  assert_int_equal(init(rate_bps), want);
  if (!strstr(sentence, words))
    fail_msg("\"%s\" does not say \"%s\"", sentence, words);
}

static void test_refused(void **state) {
  (void)state;
  make_plain(0);
  refused(LS_EINVAL, LS_TS_RATE_MIN - 1, "9999 bit/s is not accepted");
  refused(LS_EINVAL, LS_TS_RATE_MAX + 1, "is not accepted");
  refused(LS_EINVAL, 150400, "the clip carries 150400 bit/s");
  refused(0, 150401, "");
  /* Without a buffer for the sentence. */
  assert_int_equal(ls__ts_loop_init(&loop, clip.bytes[0], LS_TS_SIZE, 1000000, NULL, 0),
                   LS_EFORMAT);
  assert_int_equal(ls__ts_loop_init(&loop, clip.bytes[0], 0, 1000000, NULL, 0), LS_EFORMAT);
  assert_int_equal(ls__ts_loop_init(&loop, clip.bytes[0], 189, 1000000, sentence, sizeof sentence),
                   LS_EFORMAT);
  assert_non_null(strstr(sentence, "189 bytes"));
  assert_int_equal(ls__ts_loop_init(&loop, clip.bytes[0],
                                    (LS_LOOP_CLIP_MAX / LS_TS_SIZE + 1) * (uint64_t)LS_TS_SIZE,
                                    1000000, sentence, sizeof sentence),
                   LS_EFORMAT);
  assert_non_null(strstr(sentence, "at most"));

  clip.bytes[57][0] = 0x48;
  refused(LS_EFORMAT, 1000000, "packet 57 does not begin with 0x47");

  make_plain(0);
  ls__ts_pcr_put(clip.bytes[30], 100); /* back */
  refused(LS_EFORMAT, 1000000, "jumps by -199 ms at packet 30");
  make_plain(0);
  for (uint32_t i = 40; i < 100; i += 10)
    ls__ts_pcr_put(clip.bytes[i], i * 270000 + LS_PCR_HZ);
  refused(LS_EFORMAT, 1000000, "jumps by 1100 ms at packet 40");

  /* A second is still accepted. */
  make_plain(0);
  for (uint32_t i = 40; i < 100; i += 10)
    ls__ts_pcr_put(clip.bytes[i], i * 270000 + LS_PCR_HZ - 2700000);
  refused(0, 1000000, "");
  ls__ts_pcr_put(clip.bytes[30], 20 * 270000);
  refused(LS_EFORMAT, 1000000, "jumps by 0 ms at packet 30");
  make_plain(0);
  for (uint32_t i = 0; i < 100; i++) {
    clip.bytes[i][1] &= 0xBF;
    if (i >= 10)
      clip.bytes[i][5] = 0;
  }
  ls__test_pcr(clip.bytes[10], 20, false);
  refused(LS_EFORMAT, 1000000, "lasts no time");

  make_plain(0);
  for (uint32_t i = 50; i < 100; i += 10)
    ls__test_pes(clip.bytes[i], 0xE0, i * 900 + 100000, -1);
  refused(LS_EFORMAT, 1000000, "pictures last");

  make_plain(0);
  for (uint32_t i = 10; i < 100; i++)
    clip.bytes[i][5] = 0;
  refused(LS_EFORMAT, 1000000, "fewer than two clock references");
  clip.bytes[0][5] = 0;
  refused(LS_EFORMAT, 1000000, "fewer than two clock references");
  /* The PCRs of null packets do not count. */
  make_plain(0);
  for (uint32_t i = 0; i < 100; i++)
    clip.bytes[i][1] = clip.bytes[i][2] = 0xFF;
  refused(LS_EFORMAT, 1000000, "fewer than two clock references");
}

/* The clip of the demonstration, as ffmpeg has muxed it: pictures each 40 ms and sound frames each
 * 21.3 ms over three seams, and exactly eight seconds a lap. */
static void test_demo_clip(void **state) {
  (void)state;
  static uint8_t bytes[1 << 20];
  char path[1000];
  snprintf(path, sizeof path, "%s", __FILE__);
  *strrchr(path, '/') = 0;
  strncat(path, "/../../../demo/clip.m2t", sizeof path - strlen(path) - 1);
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  size_t len = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  assert_in_range(len, 1, sizeof bytes - 1);
  assert_int_equal(ls__ts_loop_init(&loop, bytes, len, 8000000, sentence, sizeof sentence), 0);
  assert_int_equal(loop.lap_ticks, 8 * LS_PCR_HZ);
  int64_t at_ns = 0, last_video = -1, last_audio = -1;
  uint32_t pictures = 0;
  while (at_ns < 32 * LS_S) {
    uint8_t out[LS_TS_SIZE];
    struct ls__ts_stamps stamps;
    ls__ts_loop_next(&loop, out, &at_ns);
    if (!ls__ts_stamps_get(out, &stamps))
      continue;
    bool video = stamps.stream_id == 0xE0;
    int64_t *last = video ? &last_video : &last_audio;
    if (*last >= 0 && video)
      assert_int_equal(ls__stamp_diff(stamps.pts, *last), 3600);
    else if (*last >= 0)
      assert_int_equal(ls__stamp_diff(stamps.pts, *last) % 1920, 0);
    *last = stamps.pts;
    pictures += video;
  }
  assert_int_equal(pictures, 800);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_model),       cmocka_unit_test(test_wrap),
      cmocka_unit_test(test_refused),     cmocka_unit_test(test_lap_without_video),
      cmocka_unit_test(test_small_clips), cmocka_unit_test(test_demo_clip),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
