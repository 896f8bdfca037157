/** Upper bounds of histogram buckets in seconds. They are the same on every node, so that histograms can be added. */

/** Work inside the node and its servers: milliseconds, a second under load. */
export const WORK = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** From a request to a party's answer: milliseconds without a call, up to two minutes with ringing. */
export const ANSWER = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120];

/** Duration of a scenario's run: a short announcement, a menu, a conversation, a queue. */
export const RUN = [0.1, 1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600];

/** Delay of the event loop: RTP and SIP notice ten milliseconds. */
export const DELAY = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** Jitter of sound: a jitter buffer of 60 ms hides what is below 20 ms. */
export const JITTER = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5];
