/** The door of this room: what other rooms use of it. */
export { HepSender } from './hep-sender.ts';
export { type IpEnd, ipEnds } from './hep.ts';
export { Ladder, type LadderLeg, type LadderMessage, type LadderView } from './ladder.ts';
