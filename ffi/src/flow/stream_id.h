/* Stream IDs as SRT's access-control convention writes them: `#!::` and comma-separated key=value
 * (r resource, m mode: request, publish, bidirectional, ...), or any other text. */
#ifndef LS__FLOW_STREAM_ID_H
#define LS__FLOW_STREAM_ID_H

/** How well the stream ID of a caller fits a listener's: 0 not at all; 1 the listener takes any;
 * 2 equal, or the listener's text is the caller's resource (r=). */
int ls__stream_id_match(const char *listener, const char *caller);

/** The mode (m=): 'r' request, 'p' publish; 0 when it says nothing or both (bidirectional). */
char ls__stream_id_mode(const char *caller);

#endif
