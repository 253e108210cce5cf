/**
 * What `ffi/include/lockstep.h` declares: functions and numbers. A test compares both with the
 * header and with the library.
 *
 * Only numbers and buffers of ours pass, no pointer and no callback, so that the permission for the
 * one path of the library is enough.
 *
 * @module
 */

/** `LS_ABI_VERSION` of the header that this table was written from. */
export const abiVersion = 1;

/** Index of a flow, relay or engine itself, where an endpoint or link could stand. */
export const LS_SELF = -1;

/** Size of `struct ls_event` in bytes. */
export const eventSize = 256;

/** Size of its `text`. */
export const eventTextSize = 224;

/** `enum ls_endpoint_kind`. */
export const endpointKinds = { udp: 1, srt: 2, file: 3, check: 4 } as const;

/** `enum ls_direction`. */
export const directions = { input: 1, output: 2 } as const;

/** `enum ls_event_kind`. */
export const eventKinds = { flow_state: 1, link_state: 2, warning: 3, lost: 4 } as const;

/** `enum ls_flow_state`. */
export const flowStates = { running: 1, draining: 2, ended: 3 } as const;

/** `enum ls_link_state`. */
export const linkStates = { connecting: 1, connected: 2, broken: 3, closed: 4 } as const;

/** Every function of the header. */
export const symbols = {
  // int32_t ls_abi_version(void);
  ls_abi_version: { parameters: [], result: "i32" },

  // uint32_t ls_layout_hash(void);
  ls_layout_hash: { parameters: [], result: "u32" },

  ls_error_describe: {
    parameters: [
      "i32", // int32_t code
      "buffer", // char *buf
      "u32", // uint32_t len
    ],
    result: "i32", // int32_t
  },

  ls_engine_open: {
    parameters: [
      "u32", // uint32_t threads
      "buffer", // char *err
      "u32", // uint32_t err_len
    ],
    result: "i64", // int64_t
  },

  ls_flow_open: {
    parameters: [
      "i64", // int64_t engine
    ],
    result: "i64", // int64_t
  },

  ls_relay_open: {
    parameters: [
      "i64", // int64_t engine
    ],
    result: "i64", // int64_t
  },

  ls_endpoint_add: {
    parameters: [
      "i64", // int64_t flow
      "i32", // int32_t direction
      "i32", // int32_t kind
    ],
    result: "i32", // int32_t
  },

  ls_link_add: {
    parameters: [
      "i64", // int64_t flow
      "i32", // int32_t endpoint
    ],
    result: "i32", // int32_t
  },

  ls_option: {
    parameters: [
      "i64", // int64_t handle
      "i32", // int32_t index
      "buffer", // const char *name
      "buffer", // const char *value
      "buffer", // char *err
      "u32", // uint32_t err_len
    ],
    result: "i32", // int32_t
  },

  ls_start: {
    parameters: [
      "i64", // int64_t handle
      "buffer", // char *err
      "u32", // uint32_t err_len
    ],
    result: "i32", // int32_t
  },

  ls_stop: {
    parameters: [
      "i64", // int64_t handle
    ],
    result: "i32", // int32_t
  },

  ls_close: {
    parameters: [
      "i64", // int64_t handle
    ],
    result: "i32", // int32_t
  },

  ls_event_wait: {
    parameters: [
      "i64", // int64_t engine
      "buffer", // void *event
      "u32", // uint32_t len
      "i32", // int32_t timeout_ms
    ],
    result: "i32", // int32_t
    nonblocking: true,
  },

  ls_stats: {
    parameters: [
      "i64", // int64_t handle
      "i32", // int32_t scope
      "i32", // int32_t index
      "buffer", // void *buf
      "u32", // uint32_t len
    ],
    result: "i32", // int32_t
  },

  // int64_t ls_simulation_open(void);
  ls_simulation_open: { parameters: [], result: "i64" },

  ls_simulation_link_add: {
    parameters: [
      "i64", // int64_t simulation
    ],
    result: "i32", // int32_t
  },

  ls_simulation_option: {
    parameters: [
      "i64", // int64_t simulation
      "i32", // int32_t index
      "buffer", // const char *name
      "buffer", // const char *value
      "buffer", // char *err
      "u32", // uint32_t err_len
    ],
    result: "i32", // int32_t
  },

  ls_simulation_run: {
    parameters: [
      "i64", // int64_t simulation
      "i64", // int64_t span_ns
      "buffer", // char *err
      "u32", // uint32_t err_len
    ],
    result: "i32", // int32_t
    nonblocking: true,
  },

  ls_simulation_finish: {
    parameters: [
      "i64", // int64_t simulation
    ],
    result: "i32", // int32_t
  },

  ls_simulation_stats: {
    parameters: [
      "i64", // int64_t simulation
      "i32", // int32_t scope
      "i32", // int32_t index
      "buffer", // void *buf
      "u32", // uint32_t len
    ],
    result: "i32", // int32_t
  },

  ls_simulation_close: {
    parameters: [
      "i64", // int64_t simulation
    ],
    result: "i32", // int32_t
  },
} as const satisfies Deno.ForeignLibraryInterface;

/** The functions of the loaded library. */
export type Library = Deno.DynamicLibrary<typeof symbols>["symbols"];
