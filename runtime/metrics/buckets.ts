/** Window of percentiles in seconds, divided into slices that expire one by one. */
export const WINDOW = { maxAgeSeconds: 600, ageBuckets: 5 };
export const PERCENTILES = [0.5, 0.99];
