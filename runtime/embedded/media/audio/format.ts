/** The audio format of the server. */

/** Sample rate of the server, Hz. All codecs and sources are converted to it. */
export const SAMPLE_RATE = 8000;

/** Packetization interval in milliseconds (RFC 3551 section 4.5 default). */
export const FRAME_MS = 20;

/** Samples of one frame. */
export const FRAME_SAMPLES = (SAMPLE_RATE * FRAME_MS) / 1000;
