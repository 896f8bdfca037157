import type { CallingLeg } from './leg.ts';
import { LoopLeg } from './loop-leg.ts';
import type { MovableLeg } from './moved-phone.ts';
import { PhoneLeg } from './phone-leg.ts';

export function isMovable(leg: CallingLeg): leg is MovableLeg & CallingLeg {
  return leg instanceof PhoneLeg || leg instanceof LoopLeg;
}
