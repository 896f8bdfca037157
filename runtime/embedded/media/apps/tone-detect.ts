/** The applications `tone_detect` and `stop_tone_detect`. */
import { words } from '../api/command.ts';
import { type ApplicationStart, NO_RESPONSE } from '../channel/application.ts';
import { parseToneDetect, ToneDetection } from '../recording/tone-detection.ts';

/** `tone_detect <key> <frequencies> ...`. */
export const toneDetect: ApplicationStart = (channel, data) => {
  const rules = parseToneDetect(words(data.trim()));
  if (rules !== undefined) ToneDetection.start(channel, rules);
  return NO_RESPONSE;
};

/** `stop_tone_detect`. */
export const stopToneDetect: ApplicationStart = (channel) => {
  ToneDetection.stopAll(channel);
  return NO_RESPONSE;
};
