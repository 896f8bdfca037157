import { FRAME_MS } from '../audio/format.ts';
import type { EventHeaders } from '../esl/event.ts';
import type { TalkFigures } from './talk-detector.ts';

/** Headers of `stop-talking` about the stretch of talking. */
export function talkHeaders(figures: TalkFigures | undefined): EventHeaders {
  if (figures === undefined) return {};
  const { frames, loudFrames, averageEnergy, averageChange, above, below } = figures;
  const [on, off] = [(above / frames) * 100, (below / frames) * 100];
  return {
    'talking-gate-hits': String(loudFrames),
    'talking-total-packets': String(frames),
    'talking-duration-ms': String(frames * FRAME_MS),
    'talking-average-energy': averageEnergy.toFixed(6),
    'talking-delta-average': averageChange.toFixed(6),
    'talking-hit-on-percent': on.toFixed(6),
    'talking-non-hit-ratio': ((below / above) * 100).toFixed(6),
    'talking-hit-off-percent': off.toFixed(6),
    'talking-hit-off-differential': (on - off).toFixed(6),
  };
}
