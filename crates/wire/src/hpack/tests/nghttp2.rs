//! The HPACK of nghttp2, as the reference for ours.

#![expect(unsafe_code, reason = "a binding to C")]

use std::ffi::c_int;
use std::ptr::null_mut;

use libnghttp2_sys as ng;

pub(super) struct Inflater(*mut ng::nghttp2_hd_inflater);

impl Inflater {
    pub(super) fn new() -> Self {
        let mut inflater = null_mut();
        // SAFETY: the pointer is written, and owned by us from then on.
        let done = unsafe { ng::nghttp2_hd_inflate_new(&mut inflater) };
        assert_eq!(done, 0);
        Self(inflater)
    }

    pub(super) fn resize(&mut self, size: usize) {
        // SAFETY: the inflater lives as long as `self`.
        let done = unsafe { ng::nghttp2_hd_inflate_change_table_size(self.0, size) };
        assert_eq!(done, 0);
    }

    pub(super) fn decode(&mut self, block: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
        let (mut fields, mut rest) = (Vec::new(), block);
        loop {
            let (mut flags, mut field) = (0 as c_int, std::mem::MaybeUninit::<ng::nghttp2_nv>::zeroed());
            // SAFETY: the input has the given length; field and flags are written; its texts live until the next call.
            let (taken, field) = unsafe {
                let taken =
                    ng::nghttp2_hd_inflate_hd2(self.0, field.as_mut_ptr(), &mut flags, rest.as_ptr(), rest.len(), 1);
                (taken, field.assume_init())
            };
            assert!(taken >= 0, "nghttp2 refuses a block: {taken} {block:x?}");
            rest = &rest[taken as usize..];
            if flags & ng::NGHTTP2_HD_INFLATE_EMIT as c_int != 0 {
                // SAFETY: the field gives pointer and length; an empty text may have a null pointer.
                let text = |at: *mut u8, length: usize| {
                    if length == 0 { Vec::new() } else { unsafe { std::slice::from_raw_parts(at, length) }.to_vec() }
                };
                fields.push((text(field.name, field.namelen), text(field.value, field.valuelen)));
            }
            if flags & ng::NGHTTP2_HD_INFLATE_FINAL as c_int != 0 {
                // SAFETY: the inflater lives as long as `self`.
                unsafe { ng::nghttp2_hd_inflate_end_headers(self.0) };
                return fields;
            }
            assert!(taken > 0 || flags & ng::NGHTTP2_HD_INFLATE_EMIT as c_int != 0, "it stands still");
        }
    }
}

impl Drop for Inflater {
    fn drop(&mut self) {
        // SAFETY: created by us, and not used any more.
        unsafe { ng::nghttp2_hd_inflate_del(self.0) };
    }
}

pub(super) struct Deflater(*mut ng::nghttp2_hd_deflater);

impl Deflater {
    pub(super) fn new() -> Self {
        let mut deflater = null_mut();
        // SAFETY: the pointer is written, and owned by us from then on.
        let done = unsafe { ng::nghttp2_hd_deflate_new(&mut deflater, super::TABLE_BYTES_DEFAULT) };
        assert_eq!(done, 0);
        Self(deflater)
    }

    pub(super) fn resize(&mut self, size: usize) {
        // SAFETY: the deflater lives as long as `self`.
        let done = unsafe { ng::nghttp2_hd_deflate_change_table_size(self.0, size) };
        assert_eq!(done, 0);
    }

    pub(super) fn encode(&mut self, fields: &[(Vec<u8>, Vec<u8>)]) -> Vec<u8> {
        let fields: Vec<ng::nghttp2_nv> = fields
            .iter()
            .map(|(name, value)| ng::nghttp2_nv {
                name: name.as_ptr().cast_mut(),
                value: value.as_ptr().cast_mut(),
                namelen: name.len(),
                valuelen: value.len(),
                flags: 0,
            })
            .collect();
        // SAFETY: fields and buffer have the given lengths, and the texts are only read.
        unsafe {
            let mut out = vec![0u8; ng::nghttp2_hd_deflate_bound(self.0, fields.as_ptr(), fields.len())];
            let written =
                ng::nghttp2_hd_deflate_hd2(self.0, out.as_mut_ptr(), out.len(), fields.as_ptr(), fields.len());
            assert!(written >= 0, "nghttp2 cannot encode: {written}");
            out.truncate(written as usize);
            out
        }
    }
}

impl Drop for Deflater {
    fn drop(&mut self) {
        // SAFETY: created by us, and not used any more.
        unsafe { ng::nghttp2_hd_deflate_del(self.0) };
    }
}
