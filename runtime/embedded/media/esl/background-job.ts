import { randomUUID } from 'node:crypto';
import { runApi } from '../api/command.ts';
import { reportFault } from '../core/fault.ts';
import type { MediaCore } from '../core/media-core.ts';

/**
 * `bgapi <command>`: replies at once, and publishes the result as a BACKGROUND_JOB event.
 *
 * @param jobUuid the client's Job-UUID header
 * @returns the headers of the reply
 */
export function runInBackground(core: MediaCore, command: string, jobUuid: string | undefined): string {
  const uuid = jobUuid ?? randomUUID();
  const space = command.indexOf(' ');
  const name = space < 0 ? command : command.slice(0, space);
  const argument = space < 0 ? '' : command.slice(space + 1);
  const publish = (body: string): void => {
    const headers = (): Record<string, string> => ({
      ...core.identity.eventHeaders('BACKGROUND_JOB'),
      'Job-UUID': uuid,
      'Job-Command': name,
      ...(argument === '' ? {} : { 'Job-Command-Arg': argument }),
    });
    core.bus.publish('BACKGROUND_JOB', headers, undefined, body);
  };
  // Deferred, so that the reply always comes first.
  setImmediate(() => {
    const result = runApi(core, command);
    if (typeof result === 'string') publish(result);
    else {
      result.then(publish, (error: unknown) => {
        reportFault(`bgapi ${name}`, error);
        publish('-ERR internal error\n');
      });
    }
  });
  return `Content-Type: command/reply\nReply-Text: +OK Job-UUID: ${uuid}\nJob-UUID: ${uuid}\n`;
}
