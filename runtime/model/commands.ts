/** Reads the body of SETUP (specification, "Runtime setting"). */
import { isFields, onlyKnown } from './check.ts';
import { BadParameterError } from './errors.ts';

export type Command =
  | { readonly cmd: 'suspend_notification' }
  | { readonly cmd: 'read_partitions' }
  | { readonly cmd: 'optimize' }
  | { readonly cmd: 'resume_notification'; readonly sendReload: boolean }
  | { readonly cmd: 'drop_partition'; readonly partition: string };

const COMMANDS = [
  'suspend_notification',
  'resume_notification',
  'read_partitions',
  'drop_partition',
  'optimize',
] as const;

/** @throws BadParameterError, InvalidFieldError for an unknown field */
export function parseCommand(input: unknown): Command {
  if (!isFields(input)) throw new BadParameterError('body', 'must be an object {"cmd": ...}');
  onlyKnown(input, ['cmd', 'send_reload', 'partition'], '');
  const cmd = COMMANDS.find((each) => each === input['cmd']);
  if (cmd === undefined) throw new BadParameterError('cmd', `must be one of ${COMMANDS.join(', ')}`);
  if (cmd === 'resume_notification') {
    const sendReload = input['send_reload'] ?? true;
    if (typeof sendReload !== 'boolean') throw new BadParameterError('send_reload', 'must be true or false');
    return { cmd, sendReload };
  }
  if (cmd === 'drop_partition') {
    const { partition } = input;
    if (typeof partition !== 'string') throw new BadParameterError('partition', 'must be one of read_partitions');
    return { cmd, partition };
  }
  return { cmd };
}
