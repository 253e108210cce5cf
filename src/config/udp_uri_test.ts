import { type Case, testCases, testRefusals } from "./uri_testing.ts";

const cases: Case[] = [
  {
    text: "udp://:5004",
    direction: "input",
    uri: "udp://:5004",
    options: ["local=local :5004"],
  },
  {
    text: "udp://@:5004",
    direction: "input",
    uri: "udp://:5004",
    options: ["local=local :5004"],
  },
  {
    text: "udp://:5004?adapter=10.0.0.2&buffer_size=4000000",
    direction: "input",
    uri: "udp://10.0.0.2:5004?rcvbuf=4MB",
    options: ["local=local 10.0.0.2:5004", "receive_buffer=4000000"],
    note: /buffer_size is read as rcvbuf=4MB/,
  },
  {
    text: "udp://@239.1.1.1:5004?localaddr=10.0.0.2",
    direction: "input",
    uri: "udp://239.1.1.1:5004?adapter=10.0.0.2",
    options: [
      "local=local 239.1.1.1:5004",
      "group=remote 239.1.1.1:0",
      "interface=interface of 10.0.0.2",
    ],
  },
  {
    text: "udp://10.9.9.9@239.1.1.1:5004?iface=eth1",
    direction: "input",
    uri: "udp://239.1.1.1:5004?interface=eth1&source=10.9.9.9",
    options: [
      "local=local 239.1.1.1:5004",
      "group=remote 239.1.1.1:0",
      "source=remote 10.9.9.9:0",
      "interface=eth1",
    ],
  },
  {
    text: "udp://[ff3e::1]:5004",
    direction: "input",
    uri: "udp://[ff3e::1]:5004",
    options: ["local=local ff3e::1:5004", "group=remote ff3e::1:0"],
  },
  {
    text: "udp://239.1.1.1:5004?ttl=8&adapter=10.0.0.2&tos=184&pace=playout",
    direction: "output",
    uri: "udp://239.1.1.1:5004?adapter=10.0.0.2&ttl=8&tos=184&pace=playout",
    options: [
      "remote=remote 239.1.1.1:5004",
      "interface=interface of 10.0.0.2",
      "ttl=8",
      "tos=184",
      "pace=playout",
    ],
  },
  {
    text: "udp://192.0.2.1:5004?localaddr=10.0.0.2&localport=6000&sndbuf=1MiB",
    direction: "output",
    uri: "udp://192.0.2.1:5004?adapter=10.0.0.2&localport=6000&sndbuf=1MiB",
    options: [
      "remote=remote 192.0.2.1:5004",
      "local=local 10.0.0.2:6000",
      "send_buffer=1048576",
    ],
  },
];

testCases(cases);

testRefusals([
  ["udp://5004", "input", /"5004" is not a host name or address/],
  ["udp://:5004", "output", /^an output needs a host/],
  ["udp://a@h:5004", "output", /^an output has no user or source before @/],
  [
    "udp://10.0.0.1:5004?source=10.0.0.9",
    "input",
    /^source: only a multicast group has a source/,
  ],
  ["udp://10.0.0.1:5004?adapter=10.0.0.2", "input", /^adapter: it differs from the host/],
  ["udp://239.1.1.1:5004?adapter=10.0.0.2&interface=eth0", "input", /keep interface/],
  ["udp://239.1.1.1:5004?adapter=host", "output", /^adapter: write one numeric address/],
  ["udp://:5004?ttl=3", "input", /^ttl: it belongs to an output/],
  ["udp://h:5004?pkt_size=1316", "output", /^pkt_size: an output keeps the packets of its input/],
  ["udp://:5004?fifo_size=1000", "input", /^fifo_size: it tunes the inside of ffmpeg/],
]);
