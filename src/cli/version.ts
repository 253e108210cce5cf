/** The version of Lockstep. */
export const version = "0.1.0";
