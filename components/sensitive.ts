/** The setting of components that ask a party for something. */
import { Type } from 'typebox';

export const SENSITIVE = Type.Boolean({
  default: false,
  description: 'Whether traces, logs and tests show stars in place of the answer.',
});
