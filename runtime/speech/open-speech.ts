/** Opens speech recognition. */
import type { LiveDirectory } from '../domain/index.ts';
import type { Nursery } from '../processes/index.ts';
import { SpeechService } from './service.ts';

const KEY = 'record_asr_options';

/**
 * Speech recognition configured by the setting `record_asr_options` of the master domain; changes apply immediately.
 */
export async function openSpeech(
  directory: LiveDirectory,
  nursery: Nursery,
  log: { warn(fields: object, message: string): void },
): Promise<SpeechService> {
  const service = new SpeechService(nursery);
  const { settings } = directory.collections;
  const reload = async (): Promise<void> => {
    const masters = new Set(directory.domains().flatMap(({ id, isMaster }) => (isMaster ? [id] : [])));
    const setting = (await settings.list()).find((row) => row.key === KEY && masters.has(row.domain_id));
    const problem = service.configure(setting?.value);
    if (problem !== undefined) log.warn({ setting: KEY, problem }, 'speech recognition is off');
  };
  settings.onChange(async ({ before, after }) => {
    if (before?.key === KEY || after?.key === KEY) await reload();
  });
  settings.onReset(reload);
  await reload();
  return service;
}
