import { type ApplicationStart, NO_RESPONSE } from '../channel/application.ts';
import { parseToneDetect, ToneDetection } from '../recording/tone-detection.ts';

/** Detections on one channel at most. */
const MAX_DETECTIONS = 8;

/** `tone_detect <key> <frequencies> ...`. */
export const toneDetect: ApplicationStart = (channel, data) => {
  const rules = parseToneDetect(data);
  if (rules !== undefined && channel.taps.size < MAX_DETECTIONS) ToneDetection.start(channel, rules);
  return NO_RESPONSE;
};

/** `stop_tone_detect`. */
export const stopToneDetect: ApplicationStart = (channel) => {
  ToneDetection.stopAll(channel);
  return NO_RESPONSE;
};
