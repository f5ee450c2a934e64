# varnishd -F -a 127.0.0.1:6086,PROXY -p feature=+http2 -f varnish.vcl, behind hitch.conf, which decrypts TLS.
vcl 4.1;

import std;

backend server {
    .host = "127.0.0.1";
    .port = "8081";
    .connect_timeout = 3s;
    # The longest timeout() of a tool plus 2 s.
    .first_byte_timeout = 12s;
}

sub vcl_recv {
    set req.http.X-Forwarded-Proto = "https";
    set req.http.X-Forwarded-Host = req.http.Host;
    # Reads the body, and so knows its length.
    if (req.method == "POST" && !std.cache_req_body(12MB)) {
        return (synth(413));
    }
    return (pass);
}
