/** The histories of a node: calls, and runs of scenarios. */
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Config } from '../config/index.ts';
import type { Directory } from '../domain/index.ts';
import { CallHistory, RunHistory, ScenarioFigures } from '../history/index.ts';
import type { Model } from '../model/index.ts';
import type { Storage } from '../storage/index.ts';
import type { Recordings } from './recordings.ts';

export interface HistoryNeeds {
  readonly config: Pick<Config, 'dataDir' | 'history'>;
  readonly directory: Pick<Directory, 'domain'>;
  readonly model: Model;
  readonly recordings: Recordings;
  /** True: another node may have the calls of an earlier process. */
  readonly keepsLeft: boolean;
  readonly log: Logger;
}

/** Close it after the calls have ended. */
export function openHistory({ config, directory, model, recordings, keepsLeft, log }: HistoryNeeds): CallHistory {
  return CallHistory.open({
    model,
    domainId: (name) => directory.domain(name)?.id,
    recordingsOf: (ids) => recordings.recording.archive.ofCalls(ids),
    file: join(config.dataDir, 'calls.jsonl'),
    limit: config.history.journalBytes,
    days: config.history.days,
    keepsLeft,
    log,
  });
}

export type RunHistoryNeeds = Pick<HistoryNeeds, 'directory' | 'model' | 'log'> & {
  readonly config: Pick<Config, 'traceDays'>;
};

/** Close it after the runs have ended. */
export function openRunHistory({ config, directory, model, log }: RunHistoryNeeds): RunHistory {
  return new RunHistory({ model, domainId: (name) => directory.domain(name)?.id, days: config.traceDays, log });
}

export type ScenarioFiguresNeeds = Pick<RunHistoryNeeds, 'config' | 'directory' | 'log'> & {
  readonly storage: Pick<Storage, 'db'>;
};

/** Close it after the runs have ended. */
export function openScenarioFigures({ config, directory, storage, log }: ScenarioFiguresNeeds): ScenarioFigures {
  return new ScenarioFigures({ storage, domainId: (name) => directory.domain(name)?.id, days: config.traceDays, log });
}
