/** Lists of which each node of a cluster has a part: what filter and order may name. */
import { DIALOG } from './routes/calls.ts';
import { CONFERENCE } from './routes/conferences.ts';
import { liveRuns, RUN } from './routes/records.ts';

export const LIVE_LISTS = { calls: DIALOG, conferences: CONFERENCE, runs: RUN, liveRuns } as const;
