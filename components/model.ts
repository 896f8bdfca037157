/** Shared by the model components. */
import { Type } from 'typebox';

export const CLASSNAME = Type.String({
  pattern: '^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*$',
  maxLength: 520,
  examples: ['crm/customers'],
  description: 'Name of the class.',
});
