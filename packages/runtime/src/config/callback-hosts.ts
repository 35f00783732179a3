import Joi from 'joi';

const HOST = /^(?:[\w-]+(?:\.[\w-]+)*|\[[\da-f:.]+\])(?::(?:\d{1,5}|\*))?$/i;

/** The value of `CALLBACK_ALLOW` under `npm start`, so that developers can receive events on their machine. */
export const LOOPBACK_HOSTS = ['127.0.0.1:*', 'localhost:*', '[::1]:*'];

/**
 * `CALLBACK_ALLOW`: hosts to which events may be delivered by http and at private addresses. Each has a port, or `*` for any; without, it is
 * 80 or 443. Default: none.
 */
export const callbackHosts: Joi.Schema = Joi.string()
  .custom((text: string) => {
    const hosts = text.split(',').map((host) => host.trim().toLowerCase());
    if (!hosts.every((host) => HOST.test(host))) throw new Error('not a list of hosts');
    return hosts;
  })
  .message('{{#label}} must be a list of hosts such as 10.1.2.3,hooks.internal:8443')
  .default([]);
