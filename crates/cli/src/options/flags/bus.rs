//! Flags of a bus, and of its benchmark.

use super::Mode::Bus;
use super::{Kind, Row, flag};

flags! {
    /// Flags of a bus.
    pub(super) ROWS;
    "listen": Kind::Text("ADDRESS"), &[Bus], common;
        "Address to listen on; port 0 for any free one [default: 0.0.0.0:4222]",
        "监听地址，端口 0 表示任选空闲端口 [默认：0.0.0.0:4222]";
    "name": Kind::Text("NAME"), &[Bus], common;
        "The name of the cluster that is shown [default: default]", "提示中显示的集群名称 [默认：default]";
    "dir": Kind::Text("DIR"), &[Bus], common;
        "Where it keeps what it has, and its password [default: a folder that goes with it]",
        "保存数据和密码的目录 [默认：临时目录，总线结束时删除]";
    "cert": Kind::Text("FILE"), &[Bus], common;
        "Use TLS with this certificate chain, a PEM file", "使用 TLS 和该证书链（PEM 文件）";
    "key": Kind::Text("FILE"), &[Bus], common;
        "Its private key, a PEM file [default: in the file of --cert]", "私钥（PEM 文件）[默认：与 --cert 同一文件]";
    "cacert": Kind::Text("FILE"), &[Bus], common;
        "Let in only who has a certificate that one of these has signed, a PEM file (mTLS)",
        "只接受由该 PEM 文件中的证书签发的客户端证书（双向认证）";
}
