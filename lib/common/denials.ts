// The texts do not depend on the resource or the record, so that they reveal nothing about either.

/** Tells an identified caller that a policy or a mask forbids the request. */
export const NO_PERMISSION = 'You do not have permission for this operation.'

/** Tells an anonymous caller that the request needs an identity. */
export const NOT_AUTHENTICATED = 'This operation requires authentication. Sign in, or send valid credentials.'
